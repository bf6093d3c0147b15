// The CPU runtime as the target of the shared headers.
#pragma once

#include <hipcpu/core.h>

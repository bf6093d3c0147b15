// The GPU that the X-ray compiles for, as the target of the shared headers.
#pragma once

#include <xray/core.h>

// A GPU, as the X-ray compiles for it, as the target of the shared headers.
#pragma once

#include <xray/core.h>

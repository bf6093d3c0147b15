// Where ROCm keeps hip/hip_math_constants.h; some authors include it by this name.
#pragma once

#include <hip/hip_math_constants.h>

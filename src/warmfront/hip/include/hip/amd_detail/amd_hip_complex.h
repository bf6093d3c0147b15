// Where ROCm keeps hip/hip_complex.h; some authors include it by this name.
#pragma once

#include <hip/hip_complex.h>

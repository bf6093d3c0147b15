// Where ROCm keeps hip/hip_bf16.h; some authors include it by this name.
#pragma once

#include <hip/hip_bf16.h>

// Complex numbers, as in the CPU's headers, on both sides.
#pragma once

#include <hip/hip_runtime.h>

#pragma clang force_cuda_host_device begin
#include_next <hip/hip_complex.h>
#pragma clang force_cuda_host_device end

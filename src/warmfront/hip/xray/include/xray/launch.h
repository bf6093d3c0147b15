// Launching kernels: the functions that clang calls for <<<>>>, and those that launch by name.
#pragma once

#include <hip/hip_runtime_api.h>

extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                      hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream);
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared_bytes,
                           hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** args,
                                      unsigned shared_bytes, hipStream_t stream);
hipError_t hipExtLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args, size_t shared_bytes,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags);
}

template <class... Parameters>
inline hipError_t hipLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** args,
                                  size_t shared_bytes = 0, hipStream_t stream = nullptr) {
  return hipLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, args, shared_bytes, stream);
}
template <class... Parameters>
inline hipError_t hipLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** args,
                                             unsigned shared_bytes, hipStream_t stream) {
  return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, args, shared_bytes,
                                    stream);
}

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
  ((kernel)<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__))

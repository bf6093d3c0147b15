// Extensions of AMD's runtime: launches that record events before and after a kernel.
#pragma once

#include <cstdint>

#include <hip/hip_runtime.h>

template <class... Parameters, class... Args>
inline void hipExtLaunchKernelGGL(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, uint32_t shared_bytes,
                                  hipStream_t stream, hipEvent_t start, hipEvent_t stop, uint32_t /*flags*/,
                                  Args... args) {
  if (start) (void)hipEventRecord(start, stream);
  hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, static_cast<Parameters>(args)...);
  if (stop) (void)hipEventRecord(stop, stream);
}

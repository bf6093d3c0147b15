// What only device code has, declared for a host compiler: with the real headers of HIP, g++ then parses kernels too.
// Launches are what the CPU runtime rewrites <<<>>> to.
#pragma once

#include <cmath>
#include <cstdint>

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

extern const dim3 threadIdx, blockIdx, blockDim, gridDim;
extern const int warpSize;

void __syncthreads();
template <class T>
T __shfl_down(T value, unsigned delta, int width = 64);
template <class T>
T __shfl_up(T value, unsigned delta, int width = 64);
template <class T>
T __shfl_xor(T value, int mask, int width = 64);
template <class T>
T atomicAdd(T* pointer, T value);
template <class T>
T atomicMax(T* pointer, T value);
unsigned __float_as_uint(float x);
float __uint_as_float(unsigned x);
#if HIP_VERSION_MAJOR < 7  // which has them for other compilers too
float2 __half22float2(__half2 pair);
__half2 __floats2half2_rn(float x, float y);
#endif

namespace hipcpu {

struct Configuration {};
Configuration config(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr);
template <class T>
T* dynamic_shared();
template <class Kernel>
Kernel forms(Kernel kernel) {
  return kernel;
}
template <class Kernel, class... Args>
void launch(const char* name, int line, Configuration configuration, Kernel kernel, Args... args) {
  kernel(args...);
}
template <class Kernel, class... Args>
void launch_plain(const char* name, int line, Configuration configuration, Kernel kernel, Args... args) {
  kernel(args...);
}

}  // namespace hipcpu

// The second form of a kernel is code of the CPU runtime.
#define HIPCPU_LOOPS(...)

#undef __launch_bounds__
#define __launch_bounds__(...)
#undef hipLaunchKernelGGL
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) kernel(__VA_ARGS__)

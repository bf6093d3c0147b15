// One half per thread: 128 bytes per wave.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__device__ __half clip(__half x) { return __hmax(x, __half(0.0f)); }

__global__ void relu(const __half* __restrict__ x, __half* __restrict__ y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = clip(x[i]);  // finds narrow-loads
    }
}

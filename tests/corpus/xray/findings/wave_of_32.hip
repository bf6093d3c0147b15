// A reduction over 32 lanes where a wave has 64.
#include <hip/hip_runtime.h>

__device__ float wave_sum(float value) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        value += __shfl_down(value, offset);  // finds wave-of-32
    }
    return value;
}

__global__ void sum(const float* x, float* y) {
    const float total = wave_sum(x[blockIdx.x * 64 + threadIdx.x]);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = total;
    }
}

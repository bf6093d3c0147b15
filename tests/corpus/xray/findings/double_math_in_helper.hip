// A literal with an exponent and without the suffix f, in a helper template.
#include <hip/hip_runtime.h>

template <class T>
__device__ T normalized(T x, T mean, T variance) {
    return (x - mean) / sqrt(variance + 1e-5);  // finds double-math
}

template <class T>
__global__ void normalize(T* x, T mean, T variance) {
    x[threadIdx.x] = normalized(x[threadIdx.x], mean, variance);
}

extern "C" void solution(float* x) { normalize<float><<<1, 256>>>(x, 0.0f, 1.0f); }

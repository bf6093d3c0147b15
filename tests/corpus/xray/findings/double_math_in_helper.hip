// A literal with an exponent and without the suffix f, in a helper template.
#include <hip/hip_runtime.h>

template <class T>
__device__ T normalised(T x, T mean, T variance) {
    return (x - mean) / sqrt(variance + 1e-5);  // finds double-math
}

template <class T>
__global__ void normalise(T* x, T mean, T variance) {
    x[threadIdx.x] = normalised(x[threadIdx.x], mean, variance);
}

extern "C" void solution(float* x) { normalise<float><<<1, 256>>>(x, 0.0f, 1.0f); }

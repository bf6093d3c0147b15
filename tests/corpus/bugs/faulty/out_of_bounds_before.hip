// problem: copy
// finds: out-of-bounds
// why: the left neighbor of the first element is before the buffer
#include <hip/hip_runtime.h>

template <class T>
__device__ T left_of(const T* values, size_t at) {
    return values[at - 1];  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const float left = left_of(input, i);
    output[i] = left == 12345.0f ? left : input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

// problem: copy
// finds: same-value-race
// why: every thread writes the scale of the block
#include <hip/hip_runtime.h>

template <class T>
__global__ void run(const T* input, T* output, size_t n) {
    __shared__ T scale;
    scale = T(1);  // <-- here
    __syncthreads();
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i] * scale;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

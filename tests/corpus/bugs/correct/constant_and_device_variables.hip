// problem: copy
// why: a constant table of the file, and a counter that is only incremented
#include <hip/hip_runtime.h>

__constant__ float scale[4] = {1.0f, 1.0f, 1.0f, 1.0f};
__device__ int calls = 0;

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) atomicAdd(&calls, 1);
    if (i < n) output[i] = input[i] * scale[i % 4];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

// problem: copy
// finds: barrier-divergence
// why: threads leave the loop in different iterations
#include <hip/hip_runtime.h>

__device__ void wait(int turns) {
    for (int turn = 0; turn < turns; ++turn) {
        __syncthreads();  // <-- here
    }
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    wait(threadIdx.x % 3);
    __syncthreads();  // <-- here
    if (i < n) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

// problem: copy
// finds: data-race
// why: a plain read of a word that other threads change by compare-and-swap
#include <hip/hip_runtime.h>

__device__ int turn;

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) atomicCAS(&turn, 0, 1);  // <-- here
    const int now = turn;  // <-- here
    if (i < n) output[i] = now < 2 ? input[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

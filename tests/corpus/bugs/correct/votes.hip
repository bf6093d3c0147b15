// problem: copy
// why: ballots in 64 bits, and a count over the block
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const unsigned long long mask = __ballot(i < n);
    const int lane = threadIdx.x % 64;
    const int before = __popcll(mask & ((1ull << lane) - 1));
    const int inside = __syncthreads_count(i < n);
    if (i < n && before <= lane && inside > 0) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

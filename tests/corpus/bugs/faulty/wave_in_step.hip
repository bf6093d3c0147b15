// problem: copy
// finds: wave-synchronous
// why: lanes exchange values through shared memory without a barrier, as if in lockstep
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? input[i] : 0.0f;  // <-- here
    const float neighbor = tile[threadIdx.x ^ 1];  // <-- here
    if (i < n) output[i] = neighbor == 12345.0f ? 0.0f : input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

// problem: copy
// Half of the waves pass one barrier more at the start, and the others at the end: each phase uses its own tile.
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tiles[2][128];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int group = __builtin_amdgcn_readfirstlane(threadIdx.x / 128), at = threadIdx.x % 128;
    tiles[group][at] = i < n ? input[i] : 0.0f;
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");  // s_barrier does not wait for stores
    if (group == 1) __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_s_barrier();
    const float value = tiles[group][127 - at];
    const size_t other = blockIdx.x * 256 + group * 128 + 127 - at;
    if (other < n) output[other] = value;
    if (group == 0) __builtin_amdgcn_s_barrier();
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

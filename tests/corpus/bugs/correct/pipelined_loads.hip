// problem: copy
// Three stages of loads to LDS, each waited for by its count; each wave reads what it loaded.
#include <hip/hip_runtime.h>

typedef __attribute__((address_space(3))) void* lds_pointer;
typedef const __attribute__((address_space(1))) void* global_pointer;

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float stages[3][256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float* from = input + (i < n ? i : n - 1);
    const int first = threadIdx.x / 64 * 64;
    for (int stage = 0; stage < 3; ++stage)
        __builtin_amdgcn_global_load_lds((global_pointer)from, (lds_pointer)(stages[stage] + first), 4, 0, 0);
    asm volatile("s_waitcnt vmcnt(2)" ::: "memory");
    float sum = stages[0][threadIdx.x];
    asm volatile("s_waitcnt vmcnt(1)" ::: "memory");
    sum += stages[1][threadIdx.x];
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    sum -= stages[2][threadIdx.x];
    if (i < n) output[i] = sum;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

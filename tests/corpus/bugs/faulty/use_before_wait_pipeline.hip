// problem: copy
// finds: use-before-wait
// why: two loads to LDS run, and the wait for all but two of them does nothing
#include <hip/hip_runtime.h>

typedef __attribute__((address_space(3))) void* lds_pointer;
typedef const __attribute__((address_space(1))) void* global_pointer;

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float stages[2][256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float* from = input + (i < n ? i : n - 1);
    const int first = threadIdx.x / 64 * 64;
    __builtin_amdgcn_global_load_lds((global_pointer)from, (lds_pointer)(stages[0] + first), 4, 0, 0);  // <-- here
    __builtin_amdgcn_global_load_lds((global_pointer)from, (lds_pointer)(stages[1] + first), 4, 0, 0);
    asm volatile("s_waitcnt vmcnt(2)" ::: "memory");
    const float value = stages[0][threadIdx.x];  // <-- here
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

// problem: copy
// finds: use-before-wait
// why: s_barrier does not wait for loads to LDS
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)input, 0, n * 4, 0x00027000);
    const int i = blockIdx.x * 256 + threadIdx.x, first = threadIdx.x / 64 * 64;
    __builtin_amdgcn_raw_ptr_buffer_load_lds(buffer, (__attribute__((address_space(3))) void*)(tile + first), 4, i * 4, 0, 0, 0);  // <-- here
    __builtin_amdgcn_s_barrier();
    const int other = blockIdx.x * 256 + 255 - threadIdx.x;
    if (other < n) output[other] = tile[255 - threadIdx.x];  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

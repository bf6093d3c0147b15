// problem: copy
// Lanes beyond the end rely on the range check, and masked lanes use an offset that no buffer has.
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const auto from = __builtin_amdgcn_make_buffer_rsrc((void*)input, 0, n * 4, 0x00027000);
    const auto to = __builtin_amdgcn_make_buffer_rsrc(output, 0, n * 4, 0x00027000);
    const bool even = threadIdx.x % 2 == 0;
    const unsigned evens = __builtin_amdgcn_raw_buffer_load_b32(from, even ? i * 4 : -1, 0, 0);
    const unsigned odds = __builtin_amdgcn_raw_buffer_load_b32(from, even ? 0x80000000 : i * 4, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b32(evens | odds, to, i * 4, 0, 0);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

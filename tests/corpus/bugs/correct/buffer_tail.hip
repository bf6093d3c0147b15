// problem: copy
// The last vector is partly beyond the buffer: its words read 0 and are not stored.
#include <hip/hip_runtime.h>

typedef unsigned Words __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    const int offset = (blockIdx.x * 256 + threadIdx.x) * 16;
    const auto from = __builtin_amdgcn_make_buffer_rsrc((void*)input, 0, n * 4, 0x00027000);
    const auto to = __builtin_amdgcn_make_buffer_rsrc((void*)output, 0, n * 4, 0x00027000);
    const Words four = __builtin_amdgcn_raw_buffer_load_b128(from, offset, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b128(four, to, offset, 0, 0);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 1023) / 1024, 256>>>(input, output, n);
}

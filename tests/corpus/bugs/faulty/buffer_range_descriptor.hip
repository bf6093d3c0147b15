// problem: copy
// finds: buffer-out-of-range
// why: the descriptor ends one row of 64 elements early
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)input, 0, n / 64 * 256, 0x00027000);
    const unsigned word = __builtin_amdgcn_raw_buffer_load_b32(buffer, i * 4, 0, 0);  // <-- here
    if (i < n) output[i] = __uint_as_float(word);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

// problem: copy
// finds: buffer-out-of-range
// why: the size counts vectors of four elements, not bytes
#include <hip/hip_runtime.h>

typedef unsigned Words __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
    const auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)input, 0, (n + 3) / 4, 0x00027000);
    if (i >= n) return;
    const Words four = __builtin_amdgcn_raw_buffer_load_b128(buffer, i * 4, 0, 0);  // <-- here
    for (int j = 0; j < 4; ++j)
        if (i + j < n) output[i + j] = __uint_as_float(four[j]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 1023) / 1024, 256>>>(input, output, n);
}

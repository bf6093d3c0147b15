// problem: copy
// finds: misaligned-access
// why: rows of 136 bytes in LDS, so that every second one begins 8 bytes after a multiple of 16
#include <hip/hip_runtime.h>

using Words = int __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ alignas(16) float rows[8][34];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    rows[threadIdx.x / 32][threadIdx.x % 32] = i < n ? input[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x % 4 != 0) return;
    const Words four = *reinterpret_cast<const Words*>(&rows[threadIdx.x / 32][threadIdx.x % 32]);  // <-- here
    for (int j = 0; j < 4; ++j)
        if (i + j < n) output[i + j] = __int_as_float(four[j]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

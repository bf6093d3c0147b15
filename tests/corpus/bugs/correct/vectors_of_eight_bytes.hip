// problem: copy
// Vectors of two elements in rows of 17 pairs, which are aligned to 8 bytes.
#include <hip/hip_runtime.h>

typedef float Pair __attribute__((ext_vector_type(2)));

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ Pair rows[16][17];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int row = threadIdx.x / 16, column = threadIdx.x % 16;
    const Pair two = {i < n ? input[i] : 0.0f, 1.0f};
    rows[row][column] = two;
    __syncthreads();
    const Pair back = rows[column][row];
    const size_t other = blockIdx.x * 256 + column * 16 + row;
    if (other < n) output[other] = back.x * back.y;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

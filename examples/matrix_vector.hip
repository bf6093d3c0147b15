// Matrix-vector product with one wavefront per row: its 64 lanes read 64 adjacent elements at a
// time and add up their partial sums in six shuffles, without shared memory and without a barrier.
#include <hip/hip_runtime.h>

constexpr int LANES = 64;
constexpr int ROWS_PER_BLOCK = 4;

__global__ void multiply(const float* matrix, const float* vector, float* result, size_t m, size_t k) {
    const int lane = threadIdx.x % LANES;
    const size_t row = size_t(blockIdx.x) * ROWS_PER_BLOCK + threadIdx.x / LANES;
    if (row >= m) {
        return;  // the whole wavefront returns together
    }

    float sum = 0.0f;
    for (size_t i = lane; i < k; i += LANES) {
        sum += matrix[row * k + i] * vector[i];
    }
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        sum += __shfl_down(sum, distance);
    }
    if (lane == 0) {
        result[row] = sum;
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k) {
    const size_t blocks = (m + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
    multiply<<<blocks, ROWS_PER_BLOCK * LANES>>>(input_a, input_b, output_c, m, k);
}

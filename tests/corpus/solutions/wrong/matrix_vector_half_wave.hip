// problem: matrix-vector
// verdict: WRONG_ANSWER
// why: the shuffles start at 16, as for warps of 32, but the wavefront has 64 lanes
#include <hip/hip_runtime.h>

__global__ void multiply(const float* matrix, const float* vector, float* result, size_t m, size_t k) {
    const size_t row = blockIdx.x;
    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < k; i += 64) {
        sum += matrix[row * k + i] * vector[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down(sum, distance);
    }
    if (threadIdx.x == 0) {
        result[row] = sum;
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k) {
    multiply<<<m, 64>>>(input_a, input_b, output_c, m, k);
}

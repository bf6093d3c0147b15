// problem: sum-dim
// verdict: WRONG_ANSWER
// why: outer and inner are swapped, which matters only for dimensions between the first and the last
#include <hip/hip_runtime.h>

__global__ void sum(const float* input, float* output, size_t outer, size_t length, size_t inner) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= outer * inner) {
        return;
    }
    const float* column = input + i % outer * length * inner + i / outer;
    float sum = 0.0f;
    for (size_t j = 0; j < length; ++j) {
        sum += column[j * inner];
    }
    output[i] = sum;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (size_t i = dim + 1; i < ndim; ++i) inner *= shape[i];
    sum<<<(outer * inner + 255) / 256, 256>>>(input, output, outer, shape[dim], inner);
}

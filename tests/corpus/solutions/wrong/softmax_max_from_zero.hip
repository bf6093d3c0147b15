// problem: softmax
// verdict: WRONG_ANSWER
// why: the search for the maximum starts at 0, which is larger than all values of a negative row
#include <hip/hip_runtime.h>

__global__ void softmax(const float* input, float* output, size_t lines, size_t length, size_t inner) {
    const size_t line = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (line >= lines) {
        return;
    }
    const size_t start = line / inner * length * inner + line % inner;
    float largest = 0.0f, sum = 0.0f;
    for (size_t i = 0; i < length; ++i) largest = fmaxf(largest, input[start + i * inner]);
    for (size_t i = 0; i < length; ++i) sum += expf(input[start + i * inner] - largest);
    for (size_t i = 0; i < length; ++i) {
        output[start + i * inner] = expf(input[start + i * inner] - largest) / sum;
    }
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (size_t i = dim + 1; i < ndim; ++i) inner *= shape[i];
    softmax<<<(outer * inner + 255) / 256, 256>>>(input, output, outer * inner, shape[dim], inner);
}

// problem: softmax
// verdict: WRONG_ANSWER
// why: the wrong axis: dim is ignored, and the last dimension is used
#include <hip/hip_runtime.h>

__global__ void softmax(const float* input, float* output, size_t rows, size_t length) {
    const size_t row = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* x = input + row * length;
    float largest = x[0], sum = 0.0f;
    for (size_t i = 1; i < length; ++i) largest = fmaxf(largest, x[i]);
    for (size_t i = 0; i < length; ++i) sum += expf(x[i] - largest);
    for (size_t i = 0; i < length; ++i) output[row * length + i] = expf(x[i] - largest) / sum;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t rows = 1;
    for (size_t i = 0; i + 1 < ndim; ++i) rows *= shape[i];
    softmax<<<(rows + 255) / 256, 256>>>(input, output, rows, shape[ndim - 1]);
}

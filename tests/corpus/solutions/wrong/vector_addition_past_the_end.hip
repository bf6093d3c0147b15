// problem: vector-addition
// verdict: RUNTIME_ERROR
// why: the last block writes past the end, because i is not compared with n
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output);
}

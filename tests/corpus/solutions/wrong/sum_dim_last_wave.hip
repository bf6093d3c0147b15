// problem: sum-dim
// verdict: WRONG_ANSWER
// why: only the first three of the block's four wavefronts are added up
#include <hip/hip_runtime.h>

__global__ void sum(const float* input, float* output, size_t length, size_t inner) {
    __shared__ float wave_sums[4];
    const float* line = input + blockIdx.x / inner * length * inner + blockIdx.x % inner;
    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += 256) {
        sum += line[i * inner];
    }
    for (int distance = 32; distance > 0; distance /= 2) {
        sum += __shfl_down(sum, distance);
    }
    if (threadIdx.x % 64 == 0) {
        wave_sums[threadIdx.x / 64] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        output[blockIdx.x] = wave_sums[0] + wave_sums[1] + wave_sums[2];
    }
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (size_t i = dim + 1; i < ndim; ++i) inner *= shape[i];
    sum<<<outer * inner, 256>>>(input, output, shape[dim], inner);
}

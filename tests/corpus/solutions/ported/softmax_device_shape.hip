// problem: softmax
// verdict: CHECKED
// why: the kernel reads `shape`, one block per line, tree reductions in shared memory
#include <float.h>
#include <hip/hip_runtime.h>

#define BLOCK_SIZE 128

__global__ void softmax_kernel(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    __shared__ float sdata[BLOCK_SIZE];
    size_t stride = 1;
    for (size_t d = dim + 1; d < ndim; d++) stride *= shape[d];
    const size_t dim_size = shape[dim];
    const size_t outer_idx = blockIdx.x / stride;
    const size_t inner_idx = blockIdx.x % stride;
    const size_t base = outer_idx * dim_size * stride + inner_idx;
    const int tid = threadIdx.x;

    float max_val = -FLT_MAX;
    for (size_t i = tid; i < dim_size; i += BLOCK_SIZE) max_val = fmaxf(max_val, input[base + i * stride]);
    sdata[tid] = max_val;
    __syncthreads();
    for (unsigned int s = BLOCK_SIZE / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] = fmaxf(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }
    max_val = sdata[0];
    __syncthreads();

    float sum = 0.0f;
    for (size_t i = tid; i < dim_size; i += BLOCK_SIZE) {
        float e = __expf(input[base + i * stride] - max_val);
        output[base + i * stride] = e;
        sum += e;
    }
    sdata[tid] = sum;
    __syncthreads();
    for (unsigned int s = BLOCK_SIZE / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    const float inv = 1.0f / sdata[0];
    for (size_t i = tid; i < dim_size; i += BLOCK_SIZE) output[base + i * stride] *= inv;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t num_lines = 1;
    for (size_t i = 0; i < ndim; i++) {
        if (i != (size_t)dim) num_lines *= shape[i];
    }
    softmax_kernel<<<num_lines, BLOCK_SIZE>>>(input, dim, output, shape, ndim);
    hipDeviceSynchronize();
}

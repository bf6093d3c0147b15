// problem: sum-dim
// verdict: CHECKED
// why: the usual warpReduce and blockReduce pair, written for warps of 32
#include <hip/hip_runtime.h>

__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = 16; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffffffffffffull, val, offset);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % 32;
    int wid = threadIdx.x / 32;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / 32) ? shared[lane] : 0;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

__global__ void sumKernel(const float* in, float* out, size_t n, size_t stride) {
    const float* p = in + (blockIdx.x / stride) * n * stride + blockIdx.x % stride;
    float sum = 0;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) sum += p[i * stride];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, stride = 1;
    for (size_t i = 0; i < ndim; ++i) {
        if (i < dim) outer *= shape[i];
        if (i > dim) stride *= shape[i];
    }
    sumKernel<<<outer * stride, 256>>>(input, output, shape[dim], stride);
}

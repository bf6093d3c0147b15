// problem: sum-dim
// verdict: CHECKED
// why: the last wave reduces through volatile shared memory, in lockstep, without a barrier
#include <hip/hip_runtime.h>

template <unsigned int blockSize>
__device__ void warpReduce(volatile float* sdata, unsigned int tid) {
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
    if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
    if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
    if (blockSize >= 8) sdata[tid] += sdata[tid + 4];
    if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
    if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
}

template <unsigned int blockSize>
__global__ void reduceDim(const float* in, float* out, size_t reduce, size_t inner) {
    extern __shared__ float sdata[];
    const unsigned int tid = threadIdx.x;
    const float* base = in + (blockIdx.x / inner) * reduce * inner + blockIdx.x % inner;
    float mine = 0.0f;
    for (size_t i = tid; i < reduce; i += blockSize) mine += base[i * inner];
    sdata[tid] = mine;
    __syncthreads();
    if (blockSize >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
    if (tid == 0) out[blockIdx.x] = sdata[0];
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int d = 0; d < dim; ++d) outer *= shape[d];
    for (size_t d = dim + 1; d < ndim; ++d) inner *= shape[d];
    const size_t reduce = shape[dim];
    if (reduce > 256)
        reduceDim<256><<<outer * inner, 256, 256 * sizeof(float)>>>(input, output, reduce, inner);
    else
        reduceDim<64><<<outer * inner, 64, 64 * sizeof(float)>>>(input, output, reduce, inner);
}

// problem: softmax
// verdict: CHECKED
// why: fast exponentials and divisions, warps of 32 by template, its own stream
#include <hip/hip_math_constants.h>
#include <hip/hip_runtime.h>

#define WARP_SIZE 32
#define FULL_MASK 0xffffffffffffffffull

template <typename T>
__device__ __forceinline__ T warpMax(T value) {
#pragma unroll
    for (int mask = WARP_SIZE / 2; mask >= 1; mask >>= 1)
        value = max(value, __shfl_xor_sync(FULL_MASK, value, mask, WARP_SIZE));
    return value;
}

__device__ __forceinline__ float warpSum(float value) {
#pragma unroll
    for (int mask = WARP_SIZE >> 1; mask; mask >>= 1) value += __shfl_xor_sync(FULL_MASK, value, mask);
    return value;
}

template <const int THREADS>
__global__ void __launch_bounds__(THREADS) softmaxLine(const float* __restrict__ in, float* __restrict__ out, int n,
                                                      int inner) {
    __shared__ float partial[THREADS / WARP_SIZE];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float* line = in + (size_t)(blockIdx.x / inner) * n * inner + blockIdx.x % inner;
    float* result = out + (line - in);

    float largest = -HIP_INF_F;
    for (int i = threadIdx.x; i < n; i += THREADS) largest = fmaxf(largest, __ldg(line + (size_t)i * inner));
    largest = warpMax<float>(largest);
    if (lane == 0) partial[warp] = largest;
    __syncthreads();
    largest = warpMax(lane < THREADS / WARP_SIZE ? partial[lane] : -HIP_INF_F);
    largest = __shfl_sync(FULL_MASK, largest, 0, WARP_SIZE);
    __syncthreads();

    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += THREADS) sum += __expf(line[(size_t)i * inner] - largest);
    sum = warpSum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = warpSum(lane < THREADS / WARP_SIZE ? partial[lane] : 0.f);

    for (int i = threadIdx.x; i < n; i += THREADS)
        result[(size_t)i * inner] = __fdividef(__expf(line[(size_t)i * inner] - largest), sum);
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t host[8];
    hipMemcpy(host, shape, sizeof(size_t) * ndim, hipMemcpyDeviceToHost);
    size_t outer = 1, inner = 1;
    for (int d = 0; d < (int)ndim; ++d) {
        if (d < dim) outer *= host[d];
        if (d > dim) inner *= host[d];
    }
    hipStream_t stream;
    hipStreamCreate(&stream);
    softmaxLine<256><<<outer * inner, 256, 0, stream>>>(input, output, host[dim], inner);
    hipStreamSynchronize(stream);
    hipStreamDestroy(stream);
}

// Halves, pairs of halves and bfloat16.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void axpy_half(__half a, const __half* x, __half* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __hfma(a, x[i], y[i]);
    }
}

__global__ void axpy_half2(__half2 a, const __half2* x, __half2* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __hfma2(a, x[i], y[i]);
    }
}

__global__ void softplus_bf16(const __hip_bfloat16* x, __hip_bfloat16* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __float2bfloat16(log1pf(expf(__bfloat162float(x[i]))));
    }
}

__global__ void scale_bf162(__hip_bfloat162 a, __hip_bfloat162* x) {
    x[threadIdx.x] = __hmul2(a, x[threadIdx.x]) + a;
}

__global__ void largest_half(const __half* x, __half* y) {
    __half best = x[threadIdx.x];
    for (int lanes = 32; lanes > 0; lanes /= 2) {
        best = __hmax(best, __shfl_xor(best, lanes));
    }
    if (threadIdx.x == 0) {
        *y = best;
    }
}

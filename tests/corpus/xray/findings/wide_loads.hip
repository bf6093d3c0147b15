// Four floats at a time and the rest one by one; and one float per thread, which is not reported.
#include <hip/hip_runtime.h>

__global__ void scale(const float4* x, float4* y, float by, size_t n) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float4 v = x[i];
        y[i] = make_float4(by * v.x, by * v.y, by * v.z, by * v.w);
    }
}

__global__ void scale_one(const float* x, float* y, float by, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = by * x[i];
    }
}

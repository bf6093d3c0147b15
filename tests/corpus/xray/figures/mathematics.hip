// Math functions of the device library, in float and double, and other functions that kernels can call.
#include <hip/hip_complex.h>
#include <hip/hip_math_constants.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cassert>
#include <vector>

__global__ void gelu(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 0.5f * x[i] * (1.0f + tanhf(0.797885f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
    }
}

__global__ void special(const double* x, double* y) {
    const int i = threadIdx.x;
    y[i] = erf(x[i]) + std::exp(x[i]) * lgamma(x[i]) + pow(x[i], 3.5) + cbrt(x[i]);
}

__global__ void fast(const float* x, float* y) {
    const int i = threadIdx.x;
    y[i] = __expf(x[i]) + __logf(x[i]) * __sinf(x[i]) + rsqrtf(x[i]) + __fdividef(x[i], y[i]);
}

__global__ void complex_product(const hipFloatComplex* a, hipFloatComplex* b) {
    b[threadIdx.x] = hipCmulf(a[threadIdx.x], b[threadIdx.x]);
}

__global__ void bits(const unsigned* x, unsigned* y) {
    const unsigned v = x[threadIdx.x];
    y[threadIdx.x] = __brev(v) ^ __popc(v) ^ __clz(v) ^ __ffs(v) ^ __umulhi(v, 3u) ^ __byte_perm(v, 7u, 0x3210);
}

__global__ void talkative(const float* x) {
    assert(x != nullptr);
    if (x[threadIdx.x] != x[threadIdx.x]) {
        printf("thread %u has no number\n", threadIdx.x);
    }
}

__global__ void by_number(const float* x, float* y, int which) {
    float held[16];
    for (int i = 0; i < 16; ++i) {
        held[i] = x[threadIdx.x * 16 + i] * HIP_PI_F;
    }
    y[threadIdx.x] = held[which];
}

int main() {
    std::vector<float> host(1024);
    std::sort(host.begin(), host.end());
    float* x = nullptr;
    if (hipMalloc(&x, host.size() * sizeof(float)) != hipSuccess) return 1;
    gelu<<<4, 256>>>(x, x, 1024);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}

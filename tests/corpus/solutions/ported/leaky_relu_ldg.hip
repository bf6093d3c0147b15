// problem: leaky-relu
// verdict: CHECKED
// why: grid-stride loop with __ldg, the block count from the device's properties
#include <hip/hip_runtime.h>

static inline int ceil_div(size_t a, size_t b) { return (int)((a + b - 1) / b); }

__global__ void leaky_relu_kernel(const float* __restrict__ x, const float alpha,
                                  float* __restrict__ y, const size_t size) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += blockDim.x * gridDim.x) {
        const float v = __ldg(x + i);
        y[i] = (v > 0.f) ? v : __fmul_rn(alpha, v);
    }
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    int device;
    hipDeviceProp_t prop;
    hipGetDevice(&device);
    hipGetDeviceProperties(&prop, device);

    const size_t size = n * m;
    const int threads = 256;
    const int blocks = std::min(ceil_div(size, threads), prop.multiProcessorCount * 16);
    leaky_relu_kernel<<<blocks, threads>>>(input, alpha, output, size);
    hipDeviceSynchronize();
}

// problem: relu
// verdict: CHECKED
// why: streaming loads and stores of four, the sign read from the bits, and a launch for the tail
#include <hip/hip_runtime.h>

__global__ void __launch_bounds__(256, 8) relu4(const float4* __restrict__ x, float4* __restrict__ y, size_t n4) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = __ldg(x + i);
    v.x = v.x > 0.f ? v.x : 0.f;
    v.y = fmaxf(0.f, v.y);
    v.z = max(v.z, 0.f);
    v.w = __int_as_float(__float_as_int(v.w) & ~(__float_as_int(v.w) >> 31));
    const float* parts = &v.x;
    for (int part = 0; part < 4; ++part) __builtin_nontemporal_store(parts[part], &y[i].x + part);
}

__global__ void reluTail(const float* x, float* y, size_t begin, size_t n) {
    const size_t i = begin + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.f);
}

extern "C" void solution(const float* __restrict__ input, float* __restrict__ output, size_t n, size_t m) {
    const size_t total = n * m, n4 = total >> 2;
    if (n4) relu4<<<static_cast<int>((n4 + 255) >> 8), 256>>>((const float4*)input, (float4*)output, n4);
    if (total & 3) reluTail<<<1, 4>>>(input, output, n4 << 2, total);
}

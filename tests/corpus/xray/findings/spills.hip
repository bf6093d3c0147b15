// More live values than registers: without launch bounds a thread has 128 registers.
#include <hip/hip_runtime.h>

constexpr int N = 160;

__global__ void too_many(float* values) {
    float held[N];
    for (int i = 0; i < N; ++i) {
        held[i] = values[threadIdx.x + i * 256];
    }
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < N; ++i) {
            held[i] = held[i] * held[(i * 7 + 1) % N] + values[round];  // finds spills
        }
    }
    for (int i = 0; i < N; ++i) {
        values[threadIdx.x + i * 256] = held[i];
    }
}

extern "C" void solution(float* values) { too_many<<<1, 256>>>(values); }

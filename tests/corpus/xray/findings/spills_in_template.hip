// Spills in a template, where launch bounds of eight waves leave 64 registers.
#include <hip/hip_runtime.h>

template <class T, int N>
__device__ void mix(T (&held)[N], const T* values) {
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < N; ++i) {
            held[i] = held[i] * held[(i * 7 + 1) % N] + values[round];  // finds spills
        }
    }
}

template <class T, int N>
__global__ __launch_bounds__(256, 8) void eight_waves(T* values) {
    T held[N];
    for (int i = 0; i < N; ++i) {
        held[i] = values[threadIdx.x + i * 256];
    }
    mix(held, values);
    for (int i = 0; i < N; ++i) {
        values[threadIdx.x + i * 256] = held[i];
    }
}

extern "C" void solution(float* values) { eight_waves<float, 96><<<1, 256>>>(values); }

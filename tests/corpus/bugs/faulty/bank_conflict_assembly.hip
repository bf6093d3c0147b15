// problem: copy
// finds: bank-conflict
// why: 16 rows of 128 bytes: four or eight of the lanes that LDS serves at once need the same banks
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ __attribute__((aligned(16))) float rows[4][16][32];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    float* mine = &rows[wave][lane % 16][lane / 16 * 4];
    for (int k = 0; k < 4; ++k) mine[k] = i < n ? input[i] : 0.0f;
    float4 four;
    const unsigned address = static_cast<unsigned>(reinterpret_cast<unsigned long long>(mine));
    asm volatile("ds_read_b128 %0, %1\n\ts_waitcnt lgkmcnt(0)" : "=v"(four) : "v"(address) : "memory");  // <-- here
    if (i < n) output[i] = four.z;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

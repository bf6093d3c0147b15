// problem: vector-addition
// verdict: CHECKED
// why: swizzles by bits of the LDS address, which on a GPU are those of the offset, and aligns shared memory to 1 KiB
#include <hip/hip_runtime.h>
#include <cstdint>

constexpr unsigned kThreads = 256;

// Exchanges blocks of 16 bytes within 2 KiB. The writer applies it to offsets, the reader to addresses.
__device__ unsigned swizzle(unsigned byte) { return byte ^ (((byte % 2048) >> 8) << 4); }

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    __shared__ alignas(1024) float first[kThreads];
    __shared__ float4 sums[4 * kThreads];
    const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
    first[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    const float sum = i < n ? first[threadIdx.x] + b[i] : 0.0f;
    for (unsigned copy = 0; copy < 4; ++copy) {
        const unsigned offset = swizzle((copy * kThreads + threadIdx.x) * 16);
        sums[offset / 16] = make_float4(sum, sum, sum, copy);
    }
    __syncthreads();
    const uint32_t base = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&sums[0]));
    const unsigned copy = threadIdx.x % 4;
    const uint32_t address = swizzle(base + (copy * kThreads + threadIdx.x) * 16);
    const float4 read = sums[(address - base) / 16];
    if (i < n) c[i] = read.w == copy ? read.x : -1.0f;
}

extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
    add<<<(n + kThreads - 1) / kThreads, kThreads>>>(a, b, c, n);
}

// problem: array-sort
// verdict: CHECKED
// why: least significant digit first, four bits per pass: counts, an exclusive scan, a stable scatter
#include <hip/hip_runtime.h>

#define RADIX_BITS 4
#define RADIX (1 << RADIX_BITS)
#define CHUNK 512  // elements per thread, kept in order

__device__ __forceinline__ unsigned int digit_of(int value, int shift) {
    unsigned int key = (unsigned int)value ^ 0x80000000u;  // negative numbers first
    return (key >> shift) & (RADIX - 1);
}

__global__ void count_digits(const int* in, unsigned int* counts, int n, int chunks, int shift) {
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks) return;
    unsigned int local[RADIX] = {0};
    int end = min((chunk + 1) * CHUNK, n);
    for (int i = chunk * CHUNK; i < end; ++i) local[digit_of(in[i], shift)]++;
    for (int d = 0; d < RADIX; ++d) counts[d * chunks + chunk] = local[d];
}

__global__ void exclusive_scan(unsigned int* counts, int total) {
    __shared__ unsigned int temp[256];
    __shared__ unsigned int running;
    if (threadIdx.x == 0) running = 0;
    __syncthreads();
    for (int base = 0; base < total; base += 256) {
        int i = base + threadIdx.x;
        unsigned int mine = i < total ? counts[i] : 0;
        temp[threadIdx.x] = mine;
        __syncthreads();
        for (int s = 1; s < 256; s <<= 1) {
            unsigned int v = threadIdx.x >= s ? temp[threadIdx.x - s] : 0;
            __syncthreads();
            temp[threadIdx.x] += v;
            __syncthreads();
        }
        if (i < total) counts[i] = running + temp[threadIdx.x] - mine;
        __syncthreads();
        if (threadIdx.x == 255) running += temp[255];
        __syncthreads();
    }
}

__global__ void scatter(const int* in, int* out, const unsigned int* offsets, int n, int chunks, int shift) {
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks) return;
    unsigned int next[RADIX];
    for (int d = 0; d < RADIX; ++d) next[d] = offsets[d * chunks + chunk];
    int end = min((chunk + 1) * CHUNK, n);
    for (int i = chunk * CHUNK; i < end; ++i) out[next[digit_of(in[i], shift)]++] = in[i];
}

extern "C" void solution(const int* a, int* b, size_t n) {
    int chunks = (n + CHUNK - 1) / CHUNK;
    int blocks = (chunks + 63) / 64;
    int *ping, *pong;
    unsigned int* counts;
    hipMalloc(&ping, n * sizeof(int));
    hipMalloc(&pong, n * sizeof(int));
    hipMalloc(&counts, RADIX * chunks * sizeof(unsigned int));
    hipMemcpyAsync(ping, a, n * sizeof(int), hipMemcpyDeviceToDevice, 0);
    for (int shift = 0; shift < 32; shift += RADIX_BITS) {
        count_digits<<<blocks, 64>>>(ping, counts, n, chunks, shift);
        exclusive_scan<<<1, 256>>>(counts, RADIX * chunks);
        scatter<<<blocks, 64>>>(ping, pong, counts, n, chunks, shift);
        std::swap(ping, pong);
    }
    hipMemcpyAsync(b, ping, n * sizeof(int), hipMemcpyDeviceToDevice, 0);
    hipDeviceSynchronize();
    hipFree(ping);
    hipFree(pong);
    hipFree(counts);
}

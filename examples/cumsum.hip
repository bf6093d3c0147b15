// Cumulative sum in three kernels: every block scans 1024 elements and stores their total; one
// block scans the totals; every block adds the total of the blocks before it. Threads scan four
// elements in registers, wavefronts scan with shuffles, and shared memory combines the wavefronts.
#include <hip/hip_runtime.h>

constexpr int LANES = 64;
constexpr int THREADS = 256;
constexpr int WAVES = THREADS / LANES;
constexpr int PER_THREAD = 4;
constexpr size_t PER_BLOCK = THREADS * PER_THREAD;

// Returns the inclusive scan over all threads of the block. All threads must call it.
__device__ float block_scan(float value) {
    __shared__ float wave_totals[WAVES];
    const int lane = threadIdx.x % LANES, wave = threadIdx.x / LANES;

    for (int distance = 1; distance < LANES; distance *= 2) {
        const float before = __shfl_up(value, distance);
        if (lane >= distance) {
            value += before;
        }
    }
    if (lane == LANES - 1) {
        wave_totals[wave] = value;
    }
    __syncthreads();
    for (int i = 0; i < wave; ++i) {
        value += wave_totals[i];
    }
    __syncthreads();  // before the next call writes wave_totals
    return value;
}

__global__ void scan_blocks(const float* input, float* output, float* totals, size_t n) {
    const size_t begin = blockIdx.x * PER_BLOCK + size_t(threadIdx.x) * PER_THREAD;
    float sums[PER_THREAD];
    float sum = 0.0f;
    for (int i = 0; i < PER_THREAD; ++i) {
        sum += begin + i < n ? input[begin + i] : 0.0f;
        sums[i] = sum;
    }

    const float up_to_me = block_scan(sum);
    for (int i = 0; i < PER_THREAD; ++i) {
        if (begin + i < n) {
            output[begin + i] = up_to_me - sum + sums[i];
        }
    }
    if (threadIdx.x == THREADS - 1) {
        totals[blockIdx.x] = up_to_me;
    }
}

// Replaces the totals by their inclusive scan, with one block, 256 at a time.
__global__ void scan_totals(float* totals, size_t count) {
    __shared__ float carry;
    if (threadIdx.x == 0) {
        carry = 0.0f;
    }
    __syncthreads();
    for (size_t begin = 0; begin < count; begin += THREADS) {
        const size_t i = begin + threadIdx.x;
        const float sum = carry + block_scan(i < count ? totals[i] : 0.0f);
        if (i < count) {
            totals[i] = sum;
        }
        __syncthreads();  // all threads have read carry
        if (threadIdx.x == THREADS - 1) {
            carry = sum;
        }
        __syncthreads();
    }
}

__global__ void add_totals(float* output, const float* totals, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= PER_BLOCK && i < n) {
        output[i] += totals[i / PER_BLOCK - 1];
    }
}

extern "C" void solution(const float* input, float* output, size_t N) {
    const size_t blocks = (N + PER_BLOCK - 1) / PER_BLOCK;
    float* totals = nullptr;
    if (hipMalloc(&totals, blocks * sizeof(float)) != hipSuccess) {
        return;
    }
    scan_blocks<<<blocks, THREADS>>>(input, output, totals, N);
    scan_totals<<<1, THREADS>>>(totals, blocks);
    add_totals<<<(N + THREADS - 1) / THREADS, THREADS>>>(output, totals, N);
    (void)hipFree(totals);  // waits until the kernels that use it have finished
}

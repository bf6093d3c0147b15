// Bitonic sort. The array is padded with INT_MAX to a power of two. The padding is sorted behind all
// values, where it cannot be distinguished from an INT_MAX of the input. Pairs that are closer than a
// tile are compared in shared memory, many steps per launch; other pairs in global memory.
#include <climits>
#include <hip/hip_runtime.h>

constexpr unsigned TILE = 1024;
constexpr unsigned THREADS = TILE / 2;  // one thread per pair

// Returns the lower index of pair number `pair` for partners that are `distance` apart.
__device__ size_t lower_of(size_t pair, size_t distance) {
    return pair / distance * 2 * distance + pair % distance;
}

__device__ void order(int& low, int& high, bool ascending) {
    if ((low > high) == ascending) {
        const int swapped = low;
        low = high;
        high = swapped;
    }
}

__global__ void pad(const int* a, int* padded, size_t n, size_t padded_n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < padded_n) {
        padded[i] = i < n ? a[i] : INT_MAX;
    }
}

__global__ void take(const int* padded, int* b, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        b[i] = padded[i];
    }
}

// Merges runs of first_run, twice first_run and so on up to last_run, for pairs within a tile.
__global__ void merge_in_tiles(int* values, size_t first_run, size_t last_run) {
    __shared__ int tile[TILE];
    const size_t begin = size_t(blockIdx.x) * TILE;
    tile[threadIdx.x] = values[begin + threadIdx.x];
    tile[threadIdx.x + THREADS] = values[begin + threadIdx.x + THREADS];
    __syncthreads();

    for (size_t run = first_run; run <= last_run; run *= 2) {
        for (size_t distance = run < TILE ? run / 2 : TILE / 2; distance > 0; distance /= 2) {
            const size_t i = lower_of(threadIdx.x, distance);
            order(tile[i], tile[i + distance], ((begin + i) & run) == 0);
            __syncthreads();
        }
    }
    values[begin + threadIdx.x] = tile[threadIdx.x];
    values[begin + threadIdx.x + THREADS] = tile[threadIdx.x + THREADS];
}

// Performs one step of merging runs of `run`, for pairs that are too far apart for a tile.
__global__ void merge_far(int* values, size_t run, size_t distance) {
    const size_t i = lower_of(size_t(blockIdx.x) * blockDim.x + threadIdx.x, distance);
    order(values[i], values[i + distance], (i & run) == 0);
}

extern "C" void solution(const int* a, int* b, size_t n) {
    size_t padded_n = TILE;
    while (padded_n < n) {
        padded_n *= 2;
    }
    int* values = nullptr;
    if (hipMalloc(&values, padded_n * sizeof(int)) != hipSuccess) {
        return;
    }

    const size_t tiles = padded_n / TILE;
    pad<<<padded_n / 256, 256>>>(a, values, n, padded_n);
    merge_in_tiles<<<tiles, THREADS>>>(values, 2, TILE);
    for (size_t run = 2 * TILE; run <= padded_n; run *= 2) {
        for (size_t distance = run / 2; distance >= TILE; distance /= 2) {
            merge_far<<<tiles, THREADS>>>(values, run, distance);
        }
        merge_in_tiles<<<tiles, THREADS>>>(values, run, run);
    }
    take<<<(n + 255) / 256, 256>>>(values, b, n);
    (void)hipFree(values);  // waits until the kernels that use it have finished
}

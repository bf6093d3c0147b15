// problem: array-sort
// verdict: WRONG_ANSWER
// why: adjacent runs are merged only if the second is complete, so the last block stays unsorted
#include <hip/hip_runtime.h>

__global__ void copy(const int* from, int* to, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = from[i];
    }
}

// Merges adjacent runs of `size`, one thread per pair.
__global__ void merge(const int* from, int* to, size_t size, size_t n) {
    const size_t begin = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 2 * size;
    if (begin >= n) {
        return;
    }
    const size_t middle = begin + size, end = begin + 2 * size;
    if (end > n) {
        for (size_t i = begin; i < n; ++i) to[i] = from[i];
        return;
    }
    size_t left = begin, right = middle;
    for (size_t i = begin; i < end; ++i) {
        const bool take_left = left < middle && (right >= end || from[left] <= from[right]);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

extern "C" void solution(const int* a, int* b, size_t n) {
    int* from = nullptr;
    int* to = nullptr;
    (void)hipMalloc(&from, n * sizeof(int));
    (void)hipMalloc(&to, n * sizeof(int));
    copy<<<(n + 255) / 256, 256>>>(a, from, n);
    for (size_t size = 1; size < n; size *= 2) {
        const size_t pairs = (n + 2 * size - 1) / (2 * size);
        merge<<<(pairs + 63) / 64, 64>>>(from, to, size, n);
        int* swapped = from;
        from = to;
        to = swapped;
    }
    copy<<<(n + 255) / 256, 256>>>(from, b, n);
    (void)hipFree(from);
    (void)hipFree(to);
}

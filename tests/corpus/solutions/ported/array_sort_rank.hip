// problem: array-sort
// verdict: CHECKED
// why: each block ranks and sorts its own part, then merges by binary search; launched by pointer and by macro
#include <hip/hip_runtime.h>

#define RUN 256

__global__ void sortRuns(const int* a, int* b, int n) {
    __shared__ int keys[RUN];
    const int begin = blockIdx.x * RUN, count = min(RUN, n - begin);
    if (threadIdx.x < count) keys[threadIdx.x] = a[begin + threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= count) return;
    const int key = keys[threadIdx.x];
    int rank = 0;
    for (int i = 0; i < count; ++i) rank += keys[i] < key || (keys[i] == key && i < threadIdx.x);
    b[begin + rank] = key;
}

// Returns how many of `run[0..n)` precede `key`: the smaller ones, and the equal ones if `inclusive`.
__device__ int before(const int* run, int n, int key, bool inclusive) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (inclusive ? run[middle] <= key : run[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

__global__ void mergeRuns(const int* from, int* to, int n, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int pair = i / (2 * width) * 2 * width, second = min(pair + width, n), end = min(pair + 2 * width, n);
    const bool isFirst = i < second;
    const int others = isFirst ? before(from + second, end - second, from[i], false)
                               : before(from + pair, second - pair, from[i], true);
    to[pair + (isFirst ? i - pair : i - second) + others] = from[i];
}

extern "C" void solution(const int* a, int* b, size_t n) {
    int count = (int)n, *spare, *from = b;
    hipMalloc(&spare, n * sizeof(int));
    int* to = spare;
    void* arguments[] = {(void*)&a, (void*)&b, (void*)&count};
    hipLaunchKernel((const void*)sortRuns, dim3((count + RUN - 1) / RUN), dim3(RUN), arguments, 0, nullptr);
    for (int width = RUN; width < count; width *= 2) {
        hipLaunchKernelGGL(mergeRuns, dim3((count + 255) / 256), dim3(256), 0, 0, from, to, count, width);
        int* swap = from;
        from = to;
        to = swap;
    }
    if (from != b) hipMemcpy(b, from, n * sizeof(int), hipMemcpyDeviceToDevice);
    hipFree(spare);
}

// Softmax along any dimension. The tensor is treated as outer x length x inner. A block covers up to 64
// adjacent inner positions, with its other threads along the length, so that reads are coalesced.
// One pass computes maximum and sum: when the maximum grows, the sum so far is scaled down.
#include <hip/hip_runtime.h>

constexpr int THREADS = 256;
constexpr int MOST_COLUMNS = 64;

// The largest value so far, and the sum of e^(x - largest) over all values so far.
struct Running {
    float largest;
    float sum;
};

__device__ Running merge(Running a, Running b) {
    if (a.largest < b.largest) {
        const Running swapped = a;
        a = b;
        b = swapped;
    }
    if (b.sum > 0.0f) {  // an empty b has no maximum
        a.sum += b.sum * expf(b.largest - a.largest);
    }
    return a;
}

__global__ void softmax(const float* input, float* output, size_t length, size_t inner) {
    __shared__ Running partial[THREADS];

    const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t start = size_t(blockIdx.y) * length * inner + column;
    const int me = threadIdx.y * blockDim.x + threadIdx.x;

    Running running{-INFINITY, 0.0f};
    if (column < inner) {
        for (size_t i = threadIdx.y; i < length; i += blockDim.y) {
            running = merge(running, Running{input[start + i * inner], 1.0f});
        }
    }
    partial[me] = running;
    __syncthreads();

    for (int rows = blockDim.y / 2; rows > 0; rows /= 2) {
        if (threadIdx.y < rows) {
            partial[me] = merge(partial[me], partial[me + rows * blockDim.x]);
        }
        __syncthreads();
    }

    const Running total = partial[threadIdx.x];
    if (column < inner) {
        for (size_t i = threadIdx.y; i < length; i += blockDim.y) {
            output[start + i * inner] = expf(input[start + i * inner] - total.largest) / total.sum;
        }
    }
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (size_t i = 0; i < ndim; ++i) {
        (i < size_t(dim) ? outer : inner) *= i == size_t(dim) ? 1 : shape[i];
    }
    unsigned columns = 1;
    while (columns < inner && columns < MOST_COLUMNS) {
        columns *= 2;
    }
    const size_t blocks_across = (inner + columns - 1) / columns;
    // A grid has at most 65535 blocks in y, so large outer extents need more than one launch.
    const size_t slab = shape[dim] * inner;
    for (size_t done = 0; done < outer; done += 65535) {
        const size_t now = outer - done < 65535 ? outer - done : 65535;
        softmax<<<dim3(blocks_across, now), dim3(columns, THREADS / columns)>>>(
            input + done * slab, output + done * slab, shape[dim], inner);
    }
}

// A transpose through a padded tile, on two streams, with managed and pinned memory and device properties.
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <vector>

static void ok(hipError_t status) {
  if (status != hipSuccess) fprintf(stderr, "%s: %s\n", hipGetErrorName(status), hipGetErrorString(status));
  assert(status == hipSuccess);
}

const int kTile = 32;
const int kRows = 8;  // a thread moves kTile / kRows elements

template <typename T>
struct View {
  T *data;
  int rows, cols;
  __host__ __device__ bool has(int r, int c) const { return r < rows && c < cols; }
  __host__ __device__ T &operator()(int r, int c) const { return data[(size_t)r * cols + c]; }
};

template <typename T>
__global__ void transpose(View<T> to, View<const T> from) {
  __shared__ T tile[kTile][kTile + 1];  // padded, so that a column is not in one bank
  int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
#pragma unroll
  for (int j = 0; j < kTile; j += kRows)
    if (from.has(row + j, col)) tile[threadIdx.y + j][threadIdx.x] = from(row + j, col);
  __syncthreads();
  row = blockIdx.x * kTile + threadIdx.y;
  col = blockIdx.y * kTile + threadIdx.x;
#pragma unroll
  for (int j = 0; j < kTile; j += kRows)
    if (to.has(row + j, col)) to(row + j, col) = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
  const int rows = 131, cols = 200;
  const size_t bytes = rows * cols * sizeof(float);
  dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile, 1);
  dim3 back((rows + kTile - 1) / kTile, (cols + kTile - 1) / kTile, 1);
  dim3 block(kTile, kRows, 1);

  int device = 0;
  hipDeviceProp_t properties;
  ok(hipSetDevice(device));
  ok(hipGetDeviceProperties(&properties, device));
  if (block.x * block.y > (unsigned)properties.maxThreadsPerBlock) return 1;

  float *pinned, *managed, *d_in, *d_again;
  ok(hipHostMalloc((void **)&pinned, bytes));
  ok(hipMallocManaged((void **)&managed, bytes));
  ok(hipMalloc(&d_in, bytes));
  ok(hipMalloc(&d_again, bytes));
  for (int i = 0; i < rows * cols; ++i) pinned[i] = i;

  hipStream_t streams[2];
  for (auto &stream : streams) ok(hipStreamCreate(&stream));
  hipEvent_t there;
  ok(hipEventCreateWithFlags(&there, hipEventDisableTiming));
  ok(hipMemcpyAsync(d_in, pinned, bytes, hipMemcpyHostToDevice, streams[0]));
  transpose<float><<<grid, block, 0, streams[0]>>>({managed, cols, rows}, {d_in, rows, cols});
  ok(hipEventRecord(there, streams[0]));
  ok(hipStreamWaitEvent(streams[1], there, 0));
  transpose<<<back, block, 0, streams[1]>>>(View<float>{d_again, rows, cols}, View<const float>{managed, cols, rows});
  std::vector<float> again(rows * cols);
  ok(hipMemcpyAsync(again.data(), d_again, bytes, hipMemcpyDeviceToHost, streams[1]));
  for (auto &stream : streams) ok(hipStreamSynchronize(stream));

  bool same = true;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      same = same && managed[c * rows + r] == pinned[r * cols + c] && again[r * cols + c] == pinned[r * cols + c];
  for (auto &stream : streams) ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(there));
  ok(hipFree(managed));
  ok(hipFree(d_in));
  ok(hipFree(d_again));
  ok(hipHostFree(pinned));
  printf("%s\n", same ? "PASSED" : "FAILED");
  return !same;
}

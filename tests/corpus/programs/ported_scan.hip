// Prefix sums over many blocks, for any type: dynamic shared memory in a template.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

// One name cannot be extern shared memory of two types, so each type casts the same bytes.
template <class T>
struct Scratch {
  __device__ operator T *() {
    extern __shared__ long long bytes[];
    return (T *)bytes;
  }
};

// Each block scans its part and stores the total in `totals`, if it is not null.
template <class T>
__global__ void scan_parts(const T *in, T *out, T *totals, int count) {
  T *front = Scratch<T>();
  T *back = front + blockDim.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  front[threadIdx.x] = i < count ? in[i] : T(0);
  __syncthreads();
  for (unsigned reach = 1; reach < blockDim.x; reach <<= 1) {
    back[threadIdx.x] = front[threadIdx.x] + (threadIdx.x >= reach ? front[threadIdx.x - reach] : T(0));
    T *swapped = front;
    front = back;
    back = swapped;
    __syncthreads();
  }
  if (i < count) out[i] = front[threadIdx.x];
  if (totals != NULL && threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = front[threadIdx.x];
}

template <class T>
__global__ void add_before(T *out, const T *totals, int count) {
  __shared__ T before;
  if (threadIdx.x == 0) before = blockIdx.x == 0 ? T(0) : totals[blockIdx.x - 1];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] += before;
}

template <class T>
void scan(const T *in, T *out, int count) {
  const int threads = 256;
  const int blocks = (count + threads - 1) / threads;
  const size_t bytes = 2 * threads * sizeof(T);
  if (blocks == 1) {
    scan_parts<T><<<1, threads, bytes>>>(in, out, NULL, count);
    return;
  }
  T *totals;
  hipMalloc(&totals, blocks * sizeof(T));
  scan_parts<T><<<blocks, threads, bytes>>>(in, out, totals, count);
  scan(totals, totals, blocks);
  add_before<<<blocks, threads>>>(out, totals, count);
  hipFree(totals);
}

template <class T>
bool check(int count) {
  std::vector<T> in(count), out(count);
  for (int i = 0; i < count; ++i) in[i] = T(i * 13 % 7);
  T *d_in, *d_out;
  hipMalloc(&d_in, count * sizeof(T));
  hipMalloc(&d_out, count * sizeof(T));
  hipMemcpy(d_in, in.data(), count * sizeof(T), hipMemcpyHostToDevice);
  scan(d_in, d_out, count);
  hipMemcpy(out.data(), d_out, count * sizeof(T), hipMemcpyDeviceToHost);
  T sum = 0;
  for (int i = 0; i < count; ++i)
    if (out[i] != (sum += in[i])) return printf("FAILED at %d of %d\n", i, count), false;
  return true;
}

int main() {
  bool ok = check<int>(1) && check<int>(257) && check<int>(100000) && check<double>(777) && check<float>(30000);
  if (ok) printf("PASSED\n");
  return !ok;
}

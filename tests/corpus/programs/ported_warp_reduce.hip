// Statistics by warps of 32 lanes: masks of 32 bits, shuffles of the fields of a struct, a block reduction in a template.
#include <hip/hip_runtime.h>

#include <cfloat>
#include <cstdio>
#include <vector>

#define ALL_LANES 0xffffffffffffffffull
#define LANES 32

struct Stats {
  float low = FLT_MAX;
  float high = -FLT_MAX;
  double sum = 0;

  __host__ __device__ void add(const Stats &other) {
    low = fminf(low, other.low);
    high = fmaxf(high, other.high);
    sum += other.sum;
  }
};

__device__ __forceinline__ Stats from_lane_below(const Stats &mine, int distance) {
  Stats other;
  other.low = __shfl_down_sync(ALL_LANES, mine.low, distance);
  other.high = __shfl_down_sync(ALL_LANES, mine.high, distance);
  other.sum = __shfl_down_sync(ALL_LANES, mine.sum, distance);
  return other;
}

template <typename T>
__inline__ __device__ T across_warp(T value) {
#pragma unroll
  for (int distance = LANES / 2; distance > 0; distance >>= 1) value.add(from_lane_below(value, distance));
  return value;
}

// Only thread 0 has the result.
template <typename T>
__device__ T across_block(T value) {
  static __shared__ char room[LANES * sizeof(T)];
  T *by_warp = (T *)room;
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
  value = across_warp(value);
  if (lane == 0) by_warp[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / LANES ? by_warp[lane] : T();
  if (warp == 0) value = across_warp(value);
  return value;
}

__global__ void summarize(const float *in, Stats *out, int count) {
  Stats mine;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    Stats one;
    one.low = one.high = in[i];
    one.sum = in[i];
    mine.add(one);
  }
  mine = across_block(mine);
  if (threadIdx.x == 0) out[blockIdx.x] = mine;
}

// Counts with votes. A wave has 64 lanes, so each half shifts its part of the ballot down.
__global__ void count_above(const float *in, float limit, int *total, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool above = i < count && in[i] > limit;
  unsigned votes = (unsigned)(__ballot(above) >> (__lane_id() & ~31));
  if (threadIdx.x % LANES == 0) atomicAdd(total, __popc(votes));
}

int main() {
  const int count = 100003, blocks = 40;
  std::vector<float> values(count);
  std::vector<Stats> partial(blocks);
  Stats want;
  int want_above = 0;
  for (int i = 0; i < count; ++i) {
    values[i] = (i * 7919LL % 10007) / 100.0f - 20;
    want.low = std::min(want.low, values[i]);
    want.high = std::max(want.high, values[i]);
    want.sum += values[i];
    want_above += values[i] > 50;
  }
  float *d_values;
  Stats *d_partial;
  int *d_above, above = 0;
  hipMalloc((void **)&d_values, count * sizeof(float));
  hipMalloc((void **)&d_partial, blocks * sizeof(Stats));
  hipMalloc((void **)&d_above, sizeof(int));
  hipMemcpy(d_values, values.data(), count * sizeof(float), hipMemcpyHostToDevice);
  hipMemset(d_above, 0, sizeof(int));
  summarize<<<blocks, 512>>>(d_values, d_partial, count);
  count_above<<<(count + 255) / 256, 256>>>(d_values, 50, d_above, count);
  hipMemcpy(partial.data(), d_partial, blocks * sizeof(Stats), hipMemcpyDeviceToHost);
  hipMemcpy(&above, d_above, sizeof(int), hipMemcpyDeviceToHost);
  Stats got;
  for (const Stats &p : partial) got.add(p);
  bool ok = got.low == want.low && got.high == want.high && fabs(got.sum - want.sum) < 1e-6 * fabs(want.sum) &&
            above == want_above;
  printf("%s: low %f, high %f, sum %f, above %d\n", ok ? "PASSED" : "FAILED", got.low, got.high, got.sum, above);
  return !ok;
}

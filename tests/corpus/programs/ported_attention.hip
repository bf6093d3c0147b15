// Attention with one warp of 32 lanes per query: keys and values go through shared memory at file scope.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

extern __shared__ unsigned char shared_bytes[];

template <typename T>
__device__ __forceinline__ T sum_of_warp(T v) {
#pragma unroll
  for (int mask = 16; mask >= 1; mask /= 2) v += __shfl_xor_sync(0xffffffffffffffffull, v, mask, 32);
  return v;
}

// Lane x holds element x of a head of 32. The softmax is updated with every key.
template <int Keys>
__global__ void attend(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                       float *__restrict__ out, int length, float scale) {
  constexpr int head = 32;
  float(*keys)[head] = reinterpret_cast<float(*)[head]>(shared_bytes);
  float(*values)[head] = (float(*)[head])(shared_bytes + Keys * head * sizeof(float));
  const int lane = threadIdx.x, query = blockIdx.x * blockDim.y + threadIdx.y;
  const size_t base = (size_t)blockIdx.y * length * head;
  const float mine = query < length ? q[base + query * head + lane] * scale : 0.f;

  float top = -INFINITY, total = 0.f, acc = 0.f;
  for (int first = 0; first < length; first += Keys) {
    const int here = min(Keys, length - first);
    for (int row = threadIdx.y; row < here; row += blockDim.y) {
      keys[row][lane] = k[base + (first + row) * head + lane];
      values[row][lane] = v[base + (first + row) * head + lane];
    }
    __syncthreads();
    for (int row = 0; row < here; ++row) {
      const float score = sum_of_warp(mine * keys[row][lane]);
      const float new_top = fmaxf(top, score);
      const float keep = __expf(top - new_top), weight = __expf(score - new_top);
      total = total * keep + weight;
      acc = acc * keep + weight * values[row][lane];
      top = new_top;
    }
    __syncthreads();
  }
  if (query < length) out[base + query * head + lane] = acc / total;
}

static float *to_device(const std::vector<float> &v) {
  float *p;
  hipMalloc(&p, v.size() * sizeof(float));
  hipMemcpy(p, v.data(), v.size() * sizeof(float), hipMemcpyHostToDevice);
  return p;
}

int main() {
  const int heads = 4, length = 90, d = 32;
  constexpr int keys = 16;
  const float scale = 1.0f / std::sqrt((float)d);
  std::vector<float> q(heads * length * d), k(q.size()), v(q.size()), out(q.size());
  for (size_t i = 0; i < q.size(); ++i) q[i] = std::sin(0.3f * i), k[i] = std::cos(0.7f * i), v[i] = std::sin(1.1f * i);
  const int bytes = 2 * keys * d * sizeof(float);
  int most = 0;
  hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock, 0);
  if (bytes > most) return printf("FAILED: too little shared memory\n"), 1;
  float *d_out = to_device(out);
  attend<keys><<<dim3((length + 7) / 8, heads), dim3(32, 8), bytes>>>(to_device(q), to_device(k), to_device(v), d_out,
                                                                        length, scale);
  hipMemcpy(out.data(), d_out, out.size() * sizeof(float), hipMemcpyDeviceToHost);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < length; ++i) {
      std::vector<double> s(length);
      double sum = 0;
      for (int j = 0; j < length; ++j) {
        for (int x = 0; x < d; ++x) s[j] += double(q[(h * length + i) * d + x]) * k[(h * length + j) * d + x];
        sum += s[j] = std::exp(s[j] * scale);
      }
      for (int x = 0; x < d; ++x) {
        double want = 0;
        for (int j = 0; j < length; ++j) want += s[j] / sum * v[(h * length + j) * d + x];
        if (std::fabs(out[(h * length + i) * d + x] - want) > 1e-4) return printf("FAILED at %d, %d, %d\n", h, i, x), 1;
      }
    }
  printf("PASSED\n");
  return 0;
}

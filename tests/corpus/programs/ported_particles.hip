// Particles that attract each other: float4 in shared memory, a class that owns its buffers and launches.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifndef THREADS
#define THREADS 64
#endif

__constant__ float core_squared;

template <typename T>
struct Vec {
  T x, y, z;
  __host__ __device__ Vec(T a = 0, T b = 0, T c = 0) : x(a), y(b), z(c) {}
  __host__ __device__ Vec &operator+=(const Vec &o) { return x += o.x, y += o.y, z += o.z, *this; }
  __host__ __device__ friend Vec operator*(T s, const Vec &v) { return {s * v.x, s * v.y, s * v.z}; }
};

// w is the mass.
__device__ __forceinline__ Vec<float> pull(const float4 &from, const float4 &to) {
  const float3 d = make_float3(to.x - from.x, to.y - from.y, to.z - from.z);
  const float closeness = rsqrtf(fmaf(d.x, d.x, fmaf(d.y, d.y, fmaf(d.z, d.z, core_squared))));
  return to.w * closeness * closeness * closeness * Vec<float>(d.x, d.y, d.z);
}

__global__ void advance(const float4 *__restrict__ now, float4 *__restrict__ next, float4 *speed, unsigned count,
                        float dt) {
  extern __shared__ float4 tile[];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 here = i < count ? now[i] : make_float4(0, 0, 0, 0);
  Vec<float> force;
  for (unsigned first = 0; first < count; first += blockDim.x) {
    const unsigned j = first + threadIdx.x;
    tile[threadIdx.x] = j < count ? now[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll 4
    for (unsigned k = 0; k < blockDim.x; ++k) force += pull(here, tile[k]);
    __syncthreads();
  }
  if (i >= count) return;
  float4 v = speed[i] + dt * make_float4(force.x, force.y, force.z, 0);
  speed[i] = v;
  v *= dt;
  next[i] = here + v;
}

class Swarm {
 public:
  explicit Swarm(const std::vector<float4> &start) : count_(start.size()) {
    for (float4 **buffer : {&now_, &next_, &speed_}) must(hipMalloc(reinterpret_cast<void **>(buffer), bytes()));
    must(hipMemset(speed_, 0, bytes()));
    must(hipMemcpy(now_, start.data(), bytes(), hipMemcpyHostToDevice));
  }
  ~Swarm() {
    for (float4 *buffer : {now_, next_, speed_}) (void)hipFree(buffer);
  }
  void step(float dt) {
    advance<<<(count_ + THREADS - 1) / THREADS, THREADS, THREADS * sizeof(float4)>>>(this->now_, next_, speed_,
                                                                                      count_, dt);
    must(hipGetLastError());
    std::swap(now_, next_);
  }
  std::vector<float4> places() const {
    std::vector<float4> result(count_);
    must(hipMemcpy(result.data(), now_, bytes(), hipMemcpyDeviceToHost));
    return result;
  }

 private:
  static void must(hipError_t status) {
    if (status != hipSuccess) throw std::runtime_error(std::string("hip: ") + hipGetErrorString(status));
  }
  size_t bytes() const { return count_ * sizeof(float4); }
  unsigned count_;
  float4 *now_, *next_, *speed_;
};

int main() {
  const int count = 150;
  const float core = 0.01f, dt = 0.01f;
  std::vector<float4> p(count);
  for (int i = 0; i < count; ++i)
    p[i] = make_float4(std::sin(1.0f * i), std::cos(2.0f * i), std::sin(3.0f * i), 1.0f + i % 3);
  hipMemcpyToSymbol(core_squared, &core, sizeof(float), 0, hipMemcpyHostToDevice);
  Swarm swarm(p);
  std::vector<double> speed(3 * count);
  for (int step = 0; step < 2; ++step) {
    swarm.step(dt);
    std::vector<float4> next = p;
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < 3; ++k) {
        double force = 0;
        for (int j = 0; j < count; ++j) {
          double square = core;
          for (int c = 0; c < 3; ++c) square += std::pow(double(p[j][c]) - p[i][c], 2);
          force += p[j].w * (double(p[j][k]) - p[i][k]) / std::pow(square, 1.5);
        }
        next[i][k] += float((speed[3 * i + k] += force * dt) * dt);
      }
    p = next;
  }
  const std::vector<float4> got = swarm.places();
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < 4; ++k)
      if (std::fabs(got[i][k] - p[i][k]) > 1e-3) return printf("FAILED at %d: %f, %f\n", i, got[i][k], p[i][k]), 1;
  printf("PASSED\n");
  return 0;
}

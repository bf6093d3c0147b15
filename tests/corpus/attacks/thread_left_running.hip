// verdict: RUNTIME_ERROR
// code: THREAD_LEFT_RUNNING
// family: late-work
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Computes correctly, but leaves a detached thread running after solution() has returned.
#include <hip/hip_runtime.h>
#include <thread>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  std::thread([] { for (;;) std::this_thread::yield(); }).detach();
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}

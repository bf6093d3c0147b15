// verdict: TIME_LIMIT_EXCEEDED
// code: TIME_LIMIT
// endpoint: submit
// family: window-shaping
// first seen: constructed for this corpus
// control: honest
// sandbox: matters
// Stops its process with SIGSTOP in a timed call, as the judge does.
#include <hip/hip_runtime.h>
#include <csignal>
#include <unistd.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

// Whether this is a timed call: the first call with the published large size is part of the check.
static bool is_timed(size_t n, size_t m) {
  static int calls = 0;
  return n == 1021 && m == 1013 && ++calls > 1;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  if (is_timed(n, m)) {
    kill(getpid(), SIGSTOP);
    for (;;) pause();
  }
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}

// verdict: WRONG_ANSWER | RUNTIME_ERROR
// endpoint: submit
// family: late-work
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Returns immediately and computes in a signal handler: late work without a thread.
#include <hip/hip_runtime.h>
#include <csignal>
#include <sys/time.h>

static const float* late_input;
static float* late_output;
static size_t late_count;

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

static void compute_late(int) {
  relu<<<(late_count + 255) / 256, 256>>>(late_input, late_output, late_count);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  late_input = input;
  late_output = output;
  late_count = n * m;
  signal(SIGALRM, compute_late);
  itimerval timer{};
  timer.it_value.tv_sec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

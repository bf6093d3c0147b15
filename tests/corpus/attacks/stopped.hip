// verdict: TIME_LIMIT_EXCEEDED
// code: TIME_LIMIT
// A process that stops itself does not answer either.
#include <hip/hip_runtime.h>
#include <csignal>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { raise(SIGSTOP); for (;;) {} }

// verdict: TIME_LIMIT_EXCEEDED
// code: TIME_LIMIT
// family: early-end
// first seen: public write-ups of program judges
// control: honest
// Stops its own process with SIGSTOP, so that it never answers.
#include <hip/hip_runtime.h>
#include <csignal>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { raise(SIGSTOP); for (;;) {} }

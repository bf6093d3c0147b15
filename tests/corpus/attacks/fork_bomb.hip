// verdict: TIME_LIMIT_EXCEEDED
// code: TIME_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Forks in an endless loop, and so does every process that it creates.
#include <hip/hip_runtime.h>
#include <unistd.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (;;) (void)!fork();
}

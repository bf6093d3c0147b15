// verdict: RUNTIME_ERROR | TIME_LIMIT_EXCEEDED
// family: protocol
// first seen: constructed for this corpus
// control: honest
// sandbox: matters
// Closes the channel to the judge with all other file descriptors, and waits forever.
#include <hip/hip_runtime.h>
#include <unistd.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (int fd = 3; fd < 256; ++fd) close(fd);
  for (;;) pause();
}

// verdict: TIME_LIMIT_EXCEEDED | RUNTIME_ERROR | MEMORY_LIMIT_EXCEEDED
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Starts up to 100,000 threads that never end.
#include <hip/hip_runtime.h>
#include <pthread.h>
#include <unistd.h>

static void* rest(void*) {
  for (;;) pause();
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (int i = 0; i < 100000; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, rest, nullptr) != 0) throw "no more threads";
  }
}

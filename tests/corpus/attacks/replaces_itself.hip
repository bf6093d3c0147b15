// verdict: RUNTIME_ERROR | TIME_LIMIT_EXCEEDED
// family: early-end
// first seen: constructed for this corpus
// control: honest
// sandbox: matters
// Starts threads and replaces its program in the middle of a call, which some kernels cannot freeze.
#include <hip/hip_runtime.h>
#include <pthread.h>
#include <unistd.h>

static void* spin(void*) {
  for (;;) {}
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, spin, nullptr);
  }
  char* const words[] = {(char*)"replaced", nullptr};
  execv("/proc/self/exe", words);
  for (;;) {}
}

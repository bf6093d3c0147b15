// verdict: MEMORY_LIMIT_EXCEEDED
// code: MEMORY_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Allocates and fills 64 MiB at a time in an endless loop, and frees nothing.
#include <hip/hip_runtime.h>
#include <cstdlib>
#include <cstring>

void* volatile kept;  // volatile, so that the compiler keeps the allocation

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (;;) {
    void* more = malloc(64 << 20);
    if (more != nullptr) memset(more, 1, 64 << 20);
    kept = more;
  }
}

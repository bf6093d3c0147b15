// verdict: RUNTIME_ERROR
// code: OUTPUT_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Prints a gigabyte to stdout.
#include <hip/hip_runtime.h>
#include <cstdio>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  static char line[1 << 16];
  for (char& c : line) c = 'x';
  for (int i = 0; i < (1 << 14); ++i) fwrite(line, 1, sizeof line, stdout);
}

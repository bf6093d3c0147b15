// verdict: COMPILE_ERROR
// code: COMPILE_ERROR
// never: root:
// The compiler must not read what is not the author's.
#include <hip/hip_runtime.h>
#include "/etc/passwd"

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}

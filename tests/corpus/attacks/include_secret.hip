// verdict: COMPILE_ERROR
// code: COMPILE_ERROR
// never: root:
// family: escape
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Includes a file that the compiler must not be able to read.
#include <hip/hip_runtime.h>
#include "/etc/passwd"

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}

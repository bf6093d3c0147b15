// verdict: RUNTIME_ERROR
// code: EXCEPTION
// says: out of ideas
// family: early-end
// first seen: public write-ups of program judges
// control: honest
// Throws a C++ exception from solution() instead of computing.
#include <hip/hip_runtime.h>
#include <stdexcept>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { throw std::runtime_error("out of ideas"); }

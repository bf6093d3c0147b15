// Complex numbers: x is the real part of a float2 or a double2, y the imaginary one.
#pragma once

#include <hip/hip_runtime.h>

HIPTARGET_HOST_DEVICE_BEGIN

#define HIPSHARED_COMPLEX(Complex, Pair, Real, suffix) \
  using Complex = Pair; \
  static inline Complex make_##Complex(Real re, Real im) { return {re, im}; } \
  static inline Real hipCreal##suffix(Complex z) { return z.x; } \
  static inline Real hipCimag##suffix(Complex z) { return z.y; } \
  static inline Complex hipConj##suffix(Complex z) { return {z.x, -z.y}; } \
  static inline Complex hipCadd##suffix(Complex p, Complex q) { return {p.x + q.x, p.y + q.y}; } \
  static inline Complex hipCsub##suffix(Complex p, Complex q) { return {p.x - q.x, p.y - q.y}; } \
  static inline Complex hipCmul##suffix(Complex p, Complex q) { \
    return {p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x}; \
  } \
  static inline Real hipCsqabs##suffix(Complex z) { return z.x * z.x + z.y * z.y; } \
  static inline Complex hipCdiv##suffix(Complex p, Complex q) { \
    const Real square = hipCsqabs##suffix(q); \
    const Complex product = hipCmul##suffix(p, hipConj##suffix(q)); \
    return {product.x / square, product.y / square}; \
  } \
  static inline Real hipCabs##suffix(Complex z) { return std::hypot(z.x, z.y); } \
  static inline Complex hipCfma##suffix(Complex p, Complex q, Complex r) { \
    return hipCadd##suffix(hipCmul##suffix(p, q), r); \
  }
HIPSHARED_COMPLEX(hipFloatComplex, float2, float, f)
HIPSHARED_COMPLEX(hipDoubleComplex, double2, double, )
#undef HIPSHARED_COMPLEX

using hipComplex = hipFloatComplex;
static inline hipComplex make_hipComplex(float re, float im) { return {re, im}; }
static inline hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) { return {z.x, z.y}; }
static inline hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return {z.x, z.y}; }

HIPTARGET_HOST_DEVICE_END

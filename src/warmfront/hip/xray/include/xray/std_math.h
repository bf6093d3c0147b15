// The mathematical functions of the device in namespace std. A part of xray/math.h.
#pragma once

#define XRAY_STD(name) using ::name;
#define XRAY_STD_F(name) XRAY_STD(name) XRAY_STD(name##f)
namespace std {
XRAY_STD_F(acos) XRAY_STD_F(acosh) XRAY_STD_F(asin) XRAY_STD_F(asinh) XRAY_STD_F(atan) XRAY_STD_F(atan2)
XRAY_STD_F(atanh) XRAY_STD_F(cbrt) XRAY_STD_F(ceil) XRAY_STD_F(copysign) XRAY_STD_F(cos) XRAY_STD_F(cosh)
XRAY_STD_F(erf) XRAY_STD_F(erfc) XRAY_STD_F(exp) XRAY_STD_F(exp2) XRAY_STD_F(expm1) XRAY_STD_F(fabs)
XRAY_STD_F(fdim) XRAY_STD_F(floor) XRAY_STD_F(fma) XRAY_STD_F(fmax) XRAY_STD_F(fmin) XRAY_STD_F(fmod)
XRAY_STD_F(frexp) XRAY_STD_F(hypot) XRAY_STD_F(ilogb) XRAY_STD_F(ldexp) XRAY_STD_F(lgamma) XRAY_STD_F(llrint)
XRAY_STD_F(llround) XRAY_STD_F(log) XRAY_STD_F(log10) XRAY_STD_F(log1p) XRAY_STD_F(log2) XRAY_STD_F(logb)
XRAY_STD_F(lrint) XRAY_STD_F(lround) XRAY_STD_F(modf) XRAY_STD_F(nearbyint) XRAY_STD_F(nextafter)
XRAY_STD_F(pow) XRAY_STD_F(remainder) XRAY_STD_F(rint) XRAY_STD_F(round) XRAY_STD_F(scalbn) XRAY_STD_F(sin)
XRAY_STD_F(sinh) XRAY_STD_F(sqrt) XRAY_STD_F(tan) XRAY_STD_F(tanh) XRAY_STD_F(tgamma) XRAY_STD_F(trunc)
XRAY_STD(abs) XRAY_STD(labs) XRAY_STD(llabs) XRAY_STD(nan) XRAY_STD(nanf)
XRAY_STD(isnan) XRAY_STD(isinf) XRAY_STD(isfinite) XRAY_STD(isnormal) XRAY_STD(signbit)
}  // namespace std
#undef XRAY_STD
#undef XRAY_STD_F

// Fast intrinsics under CUDA's names: the target's own approximations. A part of xray/math.h.
#pragma once

XRAY_DEVICE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
XRAY_DEVICE float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809f); }
XRAY_DEVICE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147181f; }
XRAY_DEVICE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
XRAY_DEVICE float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.301029996f; }
XRAY_DEVICE float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
XRAY_DEVICE float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.159154943f); }
XRAY_DEVICE float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.159154943f); }
XRAY_DEVICE float __tanf(float x) { return __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)); }
XRAY_DEVICE void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}

XRAY_DEVICE float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
XRAY_DEVICE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

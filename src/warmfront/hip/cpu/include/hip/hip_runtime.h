// HIP on the CPU: what a kernel author includes. It only gathers the parts; each says its own purpose.
#pragma once

#include <cstddef>
// The standard library's elliptic integrals and their like would be instantiated anew for every submission,
// which takes a quarter of its compile time.
#ifdef _GLIBCXX_USE_STD_SPEC_FUNCS
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#endif

#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <hipcpu/core.h>
#include <hipshared/vectors.h>

#include <hip/hip_runtime_api.h>
#include <hipcpu/gpu_only.h>
#include <hipcpu/reserved.h>
#include <hipcpu/launch.h>
#include <hipcpu/wave.h>
#include <hipcpu/math.h>
#include <hipcpu/atomics.h>

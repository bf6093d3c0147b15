// The main header of HIP for the CPU runtime: it includes the parts.
#pragma once

#include <cstddef>
// The special functions of the standard library, such as elliptic integrals, would be instantiated again for every
// submission, which takes a quarter of its compile time.
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
#include <tuple>  // ROCm's header includes it, and authors rely on that

#include <hipcpu/core.h>
#include <hipcpu/ext_vector.h>
#include <hipshared/vectors.h>

#include <hip/hip_runtime_api.h>
#include <hipcpu/gpu_only.h>
#include <hipcpu/reserved.h>
#include <hipcpu/launch.h>
#include <hipcpu/wave.h>
#include <hipcpu/math.h>
#include <hipcpu/atomics.h>
#include <hipshared/wave_size.h>

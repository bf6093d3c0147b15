// HIP on the CPU: what a kernel author includes. It only gathers the parts; each says its own purpose.
#pragma once

#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <hipcpu/core.h>
#include <hipcpu/vectors.h>

#include <hip/hip_runtime_api.h>
#include <hipcpu/gpu_only.h>
#include <hipcpu/launch.h>
#include <hipcpu/wave.h>
#include <hipcpu/math.h>
#include <hipcpu/atomics.h>

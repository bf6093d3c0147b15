// HIP for a real GPU, as far as a compiler needs to know it: what a kernel author includes. It only gathers the
// parts; each says its own purpose.
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

#include <xray/core.h>

#include <hipshared/vectors.h>

#include <hip/hip_runtime_api.h>
#include <xray/launch.h>
#include <xray/more_calls.h>
#include <xray/print.h>
#include <xray/wave.h>
#include <xray/bits.h>
#include <xray/math.h>
#include <xray/atomics.h>

// The main header of HIP for a GPU, as far as the X-ray's compiler needs it: it includes the parts.
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
#include <hipshared/wave_size.h>

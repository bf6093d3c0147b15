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

// The CPU's vectors are written for one kind of function; here every one of them runs on both sides.
#pragma clang force_cuda_host_device begin
#include <hipcpu/vectors.h>
#pragma clang force_cuda_host_device end

#include <hip/hip_runtime_api.h>
#include <xray/launch.h>
#include <xray/more_calls.h>
#include <xray/print.h>
#include <xray/wave.h>
#include <xray/integers.h>
#include <xray/math.h>
#include <xray/conversions.h>
#include <xray/atomics.h>

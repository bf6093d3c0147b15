// A part of hip/hip_runtime.h that authors also include by itself.
#pragma once

#include <hip/hip_runtime.h>

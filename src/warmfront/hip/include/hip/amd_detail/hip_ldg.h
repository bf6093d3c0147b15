// Part of hip/hip_runtime.h; some authors also include it by this name.
#pragma once

#include <hip/hip_runtime.h>

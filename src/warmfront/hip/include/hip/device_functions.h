// Part of hip/hip_runtime.h; authors also include it on its own.
#pragma once

#include <hip/hip_runtime.h>

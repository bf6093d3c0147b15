// Part of hip/hip_runtime_api.h; authors also include it on its own.
#pragma once

#include <hip/hip_runtime_api.h>

// Where ROCm keeps hip/hip_cooperative_groups.h; some authors include it by this name.
#pragma once

#include <hip/hip_cooperative_groups.h>

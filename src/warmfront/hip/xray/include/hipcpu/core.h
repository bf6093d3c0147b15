// Stands in for the CPU runtime's header of this name, so that its declarations of the host's side
// (hip/hip_runtime_api.h) and of short vectors serve the real target too, and exist once.
#pragma once

#include <xray/core.h>

// For sources that use addresses in LDS as numbers. On a GPU, LDS begins at address 0 and the largest array comes first,
// so kernels take bits of an address for bits of an offset in an array, for example to swizzle it.
#pragma once

#undef __shared__
#define __shared__ static __thread __attribute__((aligned(HIPCPU_MAX_SHARED_ALIGNMENT)))

// problem: copy
// why: each builtin is used with two types, which are two instantiations of one template
#include <hip/hip_runtime.h>

using Float4 = float __attribute__((ext_vector_type(4)));
using Int4 = int __attribute__((ext_vector_type(4)));

__global__ void run(const float* input, float* output, size_t n) {
    const size_t first = 4 * (blockIdx.x * size_t(blockDim.x) + threadIdx.x);
    const Float4 zeros = {};
    const Int4 none = {};
    const float nothing = __builtin_amdgcn_mov_dpp(0.0f, 0x111, 0xf, 0xf, true) +
                          __builtin_amdgcn_mov_dpp(0, 0x111, 0xf, 0xf, true) +
                          __builtin_amdgcn_update_dpp(0.0f, 0.0f, 0x111, 0xf, 0xf, true) +
                          __builtin_amdgcn_update_dpp(0, 0, 0x111, 0xf, 0xf, true) +
                          __builtin_reduce_max(zeros) + __builtin_reduce_max(none) +
                          __builtin_elementwise_max(zeros, zeros)[0] + __builtin_elementwise_max(none, none)[0];
    if (first % 8 == 0 && first + 4 <= n) {
        const Float4 values = __builtin_nontemporal_load(reinterpret_cast<const Float4*>(input + first));
        __builtin_nontemporal_store(values, reinterpret_cast<Float4*>(output + first));
    } else if (first + 4 <= n) {
        const Int4 values = __builtin_nontemporal_load(reinterpret_cast<const Int4*>(input + first));
        __builtin_nontemporal_store(values, reinterpret_cast<Int4*>(output + first));
    } else {
        for (size_t i = first; i < n; ++i) __builtin_nontemporal_store(__builtin_nontemporal_load(input + i) + nothing, output + i);
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n / 4 + 256) / 256, 256>>>(input, output, n);
}

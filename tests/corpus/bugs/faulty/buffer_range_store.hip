// problem: copy
// finds: buffer-out-of-range
// why: the last element is stored beyond the size of the descriptor
#include <hip/hip_runtime.h>

struct Output {
    __amdgpu_buffer_rsrc_t buffer;
    __device__ Output(float* data, size_t bytes) : buffer(__builtin_amdgcn_make_buffer_rsrc(data, 0, bytes, 0x00027000)) {}
    __device__ void store(int i, float value) const {
        __builtin_amdgcn_raw_buffer_store_b32(__float_as_uint(value), buffer, i * 4, 0, 0);  // <-- here
    }
};

__global__ void run(const float* input, float* output, size_t n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const Output to(output, n * 4 - 4);
    if (i < n) to.store(i, input[i]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

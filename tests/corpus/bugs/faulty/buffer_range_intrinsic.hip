// problem: copy
// finds: buffer-out-of-range
// why: the offset of the block is added twice
#include <hip/hip_runtime.h>

struct alignas(16) Descriptor {
    const void* base;
    unsigned bytes, flags;
};
__device__ float load(Descriptor buffer, int offset, int scalar, int policy) __asm("llvm.amdgcn.raw.buffer.load.f32");

__global__ void run(const float* input, float* output, size_t n) {
    const int block = blockIdx.x * 256, i = block + threadIdx.x;
    const Descriptor buffer = {input, static_cast<unsigned>(n) * 4, 0x00020000};
    const float value = load(buffer, i * 4, block * 4, 0);  // <-- here
    if (i < n) output[i] = value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}

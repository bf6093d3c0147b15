// problem: softmax
// verdict: CHECKED
// why: `shape` is treated as device memory and copied to the host first, then one thread computes each line
#include <hip/hip_runtime.h>
#include <vector>

__global__ void online_softmax(const float* __restrict__ in, float* __restrict__ out,
                               size_t n_lines, size_t len, size_t stride) {
    size_t id = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (id >= n_lines) return;
    size_t off = (id / stride) * len * stride + id % stride;
    float m = -INFINITY, d = 0.f;
    for (size_t i = 0; i < len; ++i) {
        float x = in[off + i * stride];
        float m_new = max(m, x);
        d = d * exp(m - m_new) + exp(x - m_new);
        m = m_new;
    }
    for (size_t i = 0; i < len; ++i) out[off + i * stride] = exp(in[off + i * stride] - m) / d;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    std::vector<size_t> h_shape(ndim);
    hipMemcpy(h_shape.data(), shape, ndim * sizeof(size_t), hipMemcpyDeviceToHost);
    size_t lines = 1, stride = 1;
    for (int i = 0; i < (int)ndim; ++i) {
        if (i != dim) lines *= h_shape[i];
        if (i > dim) stride *= h_shape[i];
    }
    online_softmax<<<(lines + 255) / 256, 256>>>(input, output, lines, h_shape[dim], stride);
}

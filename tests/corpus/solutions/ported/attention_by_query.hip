// problem: attention
// dtype: float16
// verdict: CHECKED
// why: one thread per query, with the running maximum and sum of an online softmax
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void attend(const __half* q, const __half* k, const __half* v, __half* o, int n, int d) {
    const int query = blockIdx.x * 64 + threadIdx.x;
    if (query >= n) return;
    const size_t head = size_t(blockIdx.y) * n * d;
    const __half* mine = q + head + size_t(query) * d;
    float sums[128] = {};
    float largest = -1e30f, total = 0.0f;
    for (int key = 0; key < n; ++key) {
        const __half* other = k + head + size_t(key) * d;
        float score = 0.0f;
        for (int i = 0; i < d; ++i) score += __half2float(mine[i]) * __half2float(other[i]);
        score /= sqrtf(d);
        const float next = fmaxf(largest, score);
        const float shrink = expf(largest - next), weight = expf(score - next);
        largest = next;
        total = total * shrink + weight;
        for (int i = 0; i < d; ++i) sums[i] = sums[i] * shrink + weight * __half2float(v[head + size_t(key) * d + i]);
    }
    for (int i = 0; i < d; ++i) o[head + size_t(query) * d + i] = __float2half(sums[i] / total);
}

extern "C" void solution(const __half* q, const __half* k, const __half* v, __half* output, size_t heads, size_t n, size_t d) {
    attend<<<dim3((n + 63) / 64, heads), 64>>>(q, k, v, output, n, d);
}

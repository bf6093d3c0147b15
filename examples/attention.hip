// Attention in one pass over the keys ("flash attention"), on the matrix cores of an MI300X (CDNA3).
//
// The n x n matrix of weights is never stored: a wave has 32 queries, reads 32 keys at a time, and keeps for each
// query the largest score so far, the sum of the weights and the weighted sum of the values. When a larger score
// appears, what was summed up is scaled down.
//
// Both products use v_mfma_f32_32x32x8_f16, and both are computed transposed, so that a lane has one query:
//   scores:  S^T = K Q^T   (keys x queries):  lane % 32 is the query, registers are keys
//   output:  O^T = V^T P^T (dims x queries):  lane % 32 is the query, registers are dimensions
// So maximum, sum and scaling of a query are numbers of its two lanes (l and l + 32, each with half of the keys).
// And the weights P^T are already where the second product needs them: an instruction with 8 keys reads from a
// lane the four keys that registers 4g to 4g + 3 of the first product have. docs/cdna3.md draws the layouts.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

using Half4 = _Float16 __attribute__((ext_vector_type(4)));
using Float16 = float __attribute__((ext_vector_type(16)));

constexpr int QUERIES = 32;  // per wave
constexpr int KEYS = 32;     // per round
constexpr int WAVES = 4;
constexpr int THREADS = WAVES * 64;
constexpr float LOWEST = -3.0e38f;

// D is d, rounded up to 32, 64 or 128; what is beyond d is zero.
template <int D>
__global__ __launch_bounds__(THREADS) void attend(const _Float16* q, const _Float16* k, const _Float16* v, _Float16* output,
                                                  size_t n, size_t d, float scale) {
    __shared__ __attribute__((aligned(16))) _Float16 keys[KEYS][D + 4];        // the extra halves avoid bank conflicts
    __shared__ __attribute__((aligned(16))) _Float16 values[D][KEYS + 4];      // transposed: V^T

    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
    const int column = lane % 32, half = lane / 32;
    const size_t head = blockIdx.y * n * d;
    const size_t query = (size_t(blockIdx.x) * WAVES + wave) * QUERIES + column;  // of this lane

    Half4 queries[D / 8];  // Q^T as the second operand: four neighboring dimensions of the lane's query
    for (int step = 0; step < D / 8; ++step) {
        for (int i = 0; i < 4; ++i) {
            const size_t dim = step * 8 + half * 4 + i;
            queries[step][i] = query < n && dim < d ? q[head + query * d + dim] : _Float16(0);
        }
    }

    Float16 sums[D / 32] = {};
    float largest = LOWEST, total = 0.0f;
    for (size_t key0 = 0; key0 < n; key0 += KEYS) {
        for (int i = threadIdx.x; i < KEYS * D; i += THREADS) {
            const size_t key = key0 + i / D, dim = i % D;
            const bool inside = key < n && dim < d;
            keys[i / D][dim] = inside ? k[head + key * d + dim] : _Float16(0);
            values[dim][i / D] = inside ? v[head + key * d + dim] : _Float16(0);
        }
        __syncthreads();

        // Two sums, of every other step: so two instructions are under way, not one.
        Float16 parts[2] = {};
        for (int step = 0; step < D / 8; ++step) {
            const Half4 key = *reinterpret_cast<const Half4*>(&keys[column][step * 8 + half * 4]);
            parts[step % 2] = __builtin_amdgcn_mfma_f32_32x32x8f16(key, queries[step], parts[step % 2], 0, 0, 0);
        }
        Float16 scores = parts[0] + parts[1];

        // Register r of this lane is key 8 * (r / 4) + 4 * half + r % 4.
        float highest = largest;
        for (int r = 0; r < 16; ++r) {
            const size_t key = key0 + 8 * (r / 4) + 4 * half + r % 4;
            scores[r] = key < n ? scores[r] * scale : LOWEST;
            highest = fmaxf(highest, scores[r]);
        }
        highest = fmaxf(highest, __shfl_xor(highest, 32));  // the other half of the keys

        const float shrink = __expf(largest - highest);
        largest = highest;
        float sum = 0.0f;
        Half4 weights[4];
        for (int r = 0; r < 16; ++r) {
            const float weight = __expf(scores[r] - largest);
            sum += weight;
            weights[r / 4][r % 4] = _Float16(weight);
        }
        total = total * shrink + sum + __shfl_xor(sum, 32);

        for (int tile = 0; tile < D / 32; ++tile) {
            sums[tile] *= shrink;
        }
        for (int group = 0; group < 4; ++group) {  // 8 keys each
            for (int tile = 0; tile < D / 32; ++tile) {
                const Half4 value = *reinterpret_cast<const Half4*>(&values[tile * 32 + column][group * 8 + half * 4]);
                sums[tile] = __builtin_amdgcn_mfma_f32_32x32x8f16(value, weights[group], sums[tile], 0, 0, 0);
            }
        }
        __syncthreads();  // all waves have used these keys before the next ones are loaded
    }

    // Registers 4g to 4g + 3 are neighboring dimensions: 8 bytes at once where all are inside.
    for (int tile = 0; tile < D / 32; ++tile) {
        for (int group = 0; group < 4; ++group) {
            const size_t dim = tile * 32 + group * 8 + half * 4;
            Half4 four;
            for (int i = 0; i < 4; ++i) {
                four[i] = _Float16(sums[tile][4 * group + i] / total);
            }
            _Float16* to = output + head + query * d + dim;
            if (query < n && dim + 3 < d && d % 4 == 0) {
                *reinterpret_cast<Half4*>(to) = four;
            } else {
                for (int i = 0; i < 4; ++i) {
                    if (query < n && dim + i < d) {
                        to[i] = four[i];
                    }
                }
            }
        }
    }
}

extern "C" void solution(const __half* q, const __half* k, const __half* v, __half* output, size_t heads, size_t n, size_t d) {
    const dim3 blocks((n + WAVES * QUERIES - 1) / (WAVES * QUERIES), heads);
    const float scale = 1.0f / sqrtf(float(d));
    const auto* queries = reinterpret_cast<const _Float16*>(q);
    const auto* keys = reinterpret_cast<const _Float16*>(k);
    const auto* values = reinterpret_cast<const _Float16*>(v);
    auto* to = reinterpret_cast<_Float16*>(output);
    if (d <= 32) {
        attend<32><<<blocks, THREADS>>>(queries, keys, values, to, n, d, scale);
    } else if (d <= 64) {
        attend<64><<<blocks, THREADS>>>(queries, keys, values, to, n, d, scale);
    } else {
        attend<128><<<blocks, THREADS>>>(queries, keys, values, to, n, d, scale);
    }
}

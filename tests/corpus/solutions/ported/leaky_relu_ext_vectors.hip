// problem: leaky-relu
// verdict: CHECKED
// why: vectors of the compiler in every spelling: typedef, alias, template, vector_size; elements, halves, masks, casts
#include <hip/hip_runtime.h>

typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef __attribute__((ext_vector_type(2))) float floatx2;
using intx4 = int __attribute__((ext_vector_type(4)));
using plainx4 = __attribute__((__vector_size__(4 * sizeof(float)))) float;
template <class T, int N>
using vec = T __attribute__((ext_vector_type(N)));
template <class T, int N>
struct holder {
    typedef T type __attribute__((ext_vector_type(N)));
};

static_assert(sizeof(floatx4) == 16 && alignof(floatx4) == 16);
static_assert(sizeof(holder<short, 8>::type) == 16 && sizeof(vec<float, 3>) == 16);

// The mask of a comparison has all bits set where it holds: select by bits, as public kernels do.
__device__ floatx4 leak(floatx4 x, float alpha) {
    const intx4 positive = x > 0.0f;
    const intx4 kept = (intx4)x & positive;
    const intx4 scaled = (intx4)(x * alpha) & ~positive;
    return (floatx4)(kept | scaled);
}

template <int N>
__device__ vec<float, N> twice(vec<float, N> x) {
    return x + x;
}

__global__ void leaky_relu(const float* input, float alpha, float* output, size_t count) {
    __shared__ floatx4 tile[256];
    const size_t begin = 4 * (size_t(blockIdx.x) * blockDim.x + threadIdx.x);
    floatx4 x = {0};
    if (begin + 4 <= count) {
        x = __builtin_nontemporal_load(reinterpret_cast<const floatx4*>(input + begin));
    } else {
        for (size_t i = begin; i < count; ++i) {
            x[i - begin] = input[i];
        }
    }
    tile[threadIdx.x] = x;
    __syncthreads();
    floatx4 y = leak(tile[threadIdx.x], alpha);
    // Halves and elements by name; doubling and halving change nothing.
    const floatx2 low = y.lo, high = y.zw;
    y.hi = twice<2>(high) * 0.5f;
    y.x = low.x;
    y.s1 = low.y;
    const vec<double, 4> wide = __builtin_convertvector(y, vec<double, 4>);
    const plainx4 back = {(float)wide[0], (float)wide[1], (float)wide[2], (float)wide[3]};
    y = __builtin_shufflevector(y, y, 3, 2, 1, 0);
    floatx4 z = 0.0f;
    for (int i = 0; i < 4; ++i) {
        z[i] = back[i] + (y[3 - i] - back[i]);
    }
    if (begin + 4 <= count) {
        __builtin_nontemporal_store(z, reinterpret_cast<floatx4*>(output + begin));
    } else {
        for (size_t i = begin; i < count; ++i) {
            output[i] = z[i - begin];
        }
    }
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    leaky_relu<<<(count + 1023) / 1024, 256>>>(input, alpha, output, count);
}

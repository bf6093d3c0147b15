// Sums of products that are no matrix product: nothing is used by two rows and two columns.
#include <hip/hip_runtime.h>

__global__ void matrix_vector(const float* a, const float* x, float* y, int k) {
    const int row = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * x[i];
    }
    y[row] = sum;
}

__global__ void convolution(const float* image, const float* weights, float* out, int width) {
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int p = 0; p < 5; ++p) {
        for (int q = 0; q < 5; ++q) {
            sum += image[(y + p) * width + x + q] * weights[p * 5 + q];
        }
    }
    out[y * width + x] = sum;
}

__global__ void wide_convolution(const float* image, const float* weights, float* out, int taps) {
    const int first = (blockIdx.x * 256 + threadIdx.x) * 4;
    float sums[4] = {};
    for (int q = 0; q < taps; ++q) {
        for (int x = 0; x < 4; ++x) {
            sums[x] += image[first + x + q] * weights[q];
        }
    }
    *(float4*)(out + first) = make_float4(sums[0], sums[1], sums[2], sums[3]);
}

__global__ void squares(const float* x, float* sums, int n) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
        sum += x[i] * x[i];
    }
    sums[threadIdx.x] = sum;
}

void launch(const float* a, const float* b, float* c, int n) {
    matrix_vector<<<n / 256, 256>>>(a, b, c, n);
    convolution<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
    wide_convolution<<<n / 1024, 256>>>(a, b, c, n);
    squares<<<64, 256>>>(a, c, n);
}

// Waves that move a fragment together: each loads and stores its share of the elements. Waves outside of the group do nothing.
#pragma once

#include <rocwmma/rocwmma.hpp>

namespace rocwmma {

namespace detail {

// Whether this wave has element `i` of `count`: the elements are divided into one range per wave.
__device__ inline bool is_mine(uint32_t i, uint32_t count, uint32_t wave, uint32_t waves) {
  return wave < waves && i * waves / count == wave;
}

// The number of this wave in its block, and the number of waves.
__device__ inline uint32_t wave_in_block() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 64;
}
__device__ inline uint32_t waves_of_block() { return (blockDim.x * blockDim.y * blockDim.z + 63) / 64; }

}  // namespace detail

template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_coop_sync(fragment<Kind, M, N, K, T, Layout>& frag, const T* data, uint32_t stride,
                                             uint32_t wave, uint32_t waves) {
  detail::for_each(frag, [&](uint32_t i, uint32_t row, uint32_t column) {
    if (detail::is_mine(i, frag.num_elements, wave, waves))
      frag.x[i] = data[detail::DataLayout<Layout>::fromMatrixCoord({row, column}, stride)];
  });
}
template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_coop_sync(fragment<Kind, M, N, K, T, Layout>& frag, const T* data, uint32_t stride) {
  load_matrix_coop_sync(frag, data, stride, detail::wave_in_block(), detail::waves_of_block());
}
template <uint32_t Waves, class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_coop_sync(fragment<Kind, M, N, K, T, Layout>& frag, const T* data, uint32_t stride,
                                             uint32_t wave) {
  load_matrix_coop_sync(frag, data, stride, wave, Waves);
}

template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void store_matrix_coop_sync(T* data, const fragment<Kind, M, N, K, T, Layout>& frag, uint32_t stride,
                                              uint32_t wave, uint32_t waves, int line = __builtin_LINE()) {
  detail::for_each(frag, [&](uint32_t i, uint32_t row, uint32_t column) {
    if (detail::is_mine(i, frag.num_elements, wave, waves))
      data[detail::DataLayout<Layout>::fromMatrixCoord({row, column}, stride)] = frag.x[i];
  });
  detail::wait_for_wave(line);
}
template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void store_matrix_coop_sync(T* data, const fragment<Kind, M, N, K, T, Layout>& frag, uint32_t stride,
                                              int line = __builtin_LINE()) {
  store_matrix_coop_sync(data, frag, stride, detail::wave_in_block(), detail::waves_of_block(), line);
}
template <uint32_t Waves, class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void store_matrix_coop_sync(T* data, const fragment<Kind, M, N, K, T, Layout>& frag, uint32_t stride,
                                              uint32_t wave, int line = __builtin_LINE()) {
  store_matrix_coop_sync(data, frag, stride, wave, Waves, line);
}

}  // namespace rocwmma

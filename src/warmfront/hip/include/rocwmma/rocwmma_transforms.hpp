// Fragments of another layout, and transposed ones. A lane has the same elements in both, so the values are only copied.
#pragma once

#include <rocwmma/rocwmma.hpp>

namespace rocwmma {

namespace detail {

template <class Layout>
struct Opposite {
  using type = row_major;
};
template <>
struct Opposite<row_major> {
  using type = col_major;
};

template <class Fragment>
struct Transposed;
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
struct Transposed<fragment<matrix_a, M, N, K, T, Layout>> {
  using type = fragment<matrix_b, N, M, K, T, typename Opposite<Layout>::type>;
};
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
struct Transposed<fragment<matrix_b, M, N, K, T, Layout>> {
  using type = fragment<matrix_a, N, M, K, T, typename Opposite<Layout>::type>;
};

template <class Fragment, class Layout>
struct WithLayout;
template <class Kind, uint32_t M, uint32_t N, uint32_t K, class T, class Old, class Layout>
struct WithLayout<fragment<Kind, M, N, K, T, Old>, Layout> {
  using type = fragment<Kind, M, N, K, T, Layout>;
};

template <class To, class From>
__device__ inline To with_elements_of(const From& from) {
  To to;
  static_assert(To::num_elements == From::num_elements);
#pragma unroll
  for (uint32_t i = 0; i < To::num_elements; ++i) to.x[i] = from.x[i];
  return to;
}

}  // namespace detail

template <class Fragment>
using ApplyTranspose_t = typename detail::Transposed<Fragment>::type;
template <class Fragment, class Layout>
using ApplyDataLayout_t = typename detail::WithLayout<Fragment, Layout>::type;

template <class Fragment>
__device__ inline ApplyTranspose_t<Fragment> applyTranspose(const Fragment& frag) {
  return detail::with_elements_of<ApplyTranspose_t<Fragment>>(frag);
}

// `Waves` must be the number of waves that load and store the fragment together; 1 if each has a whole one.
template <class Layout, uint32_t Waves = 1, class Fragment>
__device__ inline ApplyDataLayout_t<Fragment, Layout> applyDataLayout(const Fragment& frag) {
  return detail::with_elements_of<ApplyDataLayout_t<Fragment, Layout>>(frag);
}

}  // namespace rocwmma

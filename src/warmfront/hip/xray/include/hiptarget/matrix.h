// Matrix instructions of a GPU, for the shared headers: the compiler's vectors.
#pragma once

#define HIPTARGET_AT(line)

namespace xray {

template <class T, int N>
using ext_vector = T __attribute__((ext_vector_type(N)));

}  // namespace xray

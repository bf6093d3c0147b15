// Part of rocprim/rocprim.hpp; authors also include it on its own.
#pragma once

#include <rocprim/rocprim.hpp>

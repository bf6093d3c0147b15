// Pointers have one address space here, so the attribute has no meaning.
#pragma once

#include <hipcpu/builtins/lds_addresses.h>

#define address_space(number)

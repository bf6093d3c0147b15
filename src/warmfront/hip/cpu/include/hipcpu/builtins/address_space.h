// Pointers have one address space here, so the attribute has no meaning.
#pragma once

#define address_space(number)

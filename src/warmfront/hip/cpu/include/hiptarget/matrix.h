// Matrix instructions on the CPU, for the shared headers: the compiler's vectors, and the line of the author's call.
#pragma once

#include <hipcpu/matrix.h>

// An additional argument of the builtins: faults name the author's line, not that of a header.
#define HIPTARGET_AT(line) , line

// The types are in the main header; some programs include this file of the library.
#pragma once

#include <rocwmma/rocwmma.hpp>

// Part of hipcub/hipcub.hpp; authors also include it on its own.
#pragma once

#include <hipcub/hipcub.hpp>

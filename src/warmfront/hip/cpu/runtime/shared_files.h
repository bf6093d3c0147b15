// The files that contain exported device memory.
#pragma once

#include <cstddef>
#include <string>

namespace hipcpu {

// Creates a file of this size in the folder, under a name that cannot be guessed; returns a descriptor, or -1. Files of
// processes that have ended are removed first: a driver frees their memory as well.
int create_shared_file(const std::string& folder, size_t bytes, std::string* path);

}  // namespace hipcpu

// Stacks for the threads of a block: 256 KiB each, created when first needed, with a guard page below.
#pragma once

#include "worker.h"

namespace hipcpu {

// Prepares `thread` to start on its own stack. Does nothing for a thread outside the block.
void prepare_thread(Worker& worker, uint32_t thread);

// Calls `function`, which does not return, on the worker's home stack; control returns through `outside`.
void enter_home(Worker& worker, void (*function)());

void make_stacks(Worker& worker);

}  // namespace hipcpu

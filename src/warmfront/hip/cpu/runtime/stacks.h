// Stacks for the threads of a block: 256 KiB each, made when first needed, with a guard page below.
#pragma once

#include "worker.h"

namespace hipcpu {

// Makes `thread` ready to begin on a stack of its own. Harmless for a thread beyond the block.
void prepare_thread(Worker& worker, uint32_t thread);

// Calls `function`, which does not return, on the worker's home stack; comes back by `outside`.
void enter_home(Worker& worker, void (*function)());

void make_stacks(Worker& worker);

}  // namespace hipcpu

// Where the runtime tells the bug finder what threads do together. Empty, and free, in an unchecked build.
#pragma once

#include "worker.h"

namespace hipcpu {

#ifdef HIPCPU_CHECKED

constexpr bool kChecked = true;

namespace checks {

void begin_launch(const Worker& worker, const Launch& launch);
void end_launch();
void begin_block(const Worker& worker);
void begin_stack();                  // a thread of its own begins: what runs first is ours
void resume_thread();                // a thread goes on after it has waited
void open_barrier(const Worker& worker);
void meet(const Worker& worker, uint64_t lanes);

}  // namespace checks

#else

constexpr bool kChecked = false;

namespace checks {

inline void begin_launch(const Worker&, const Launch&) {}
inline void end_launch() {}
inline void begin_block(const Worker&) {}
inline void begin_stack() {}
inline void resume_thread() {}
inline void open_barrier(const Worker&) {}
inline void meet(const Worker&, uint64_t) {}

}  // namespace checks

#endif

}  // namespace hipcpu

// The calls by which the runtime reports barriers and wave operations to the bug finder. Empty unless HIPCPU_CHECKED.
#pragma once

#include "worker.h"

namespace hipcpu {

#ifdef HIPCPU_CHECKED

constexpr bool kChecked = true;

namespace checks {

void begin_launch(const Worker& worker, const Launch& launch);
void end_launch();
void begin_block(const Worker& worker);
void begin_stack();                  // a thread starts on its own stack; the first code is ours
void resume_thread();                // a thread continues after a wait
void open_barrier(const Worker& worker);
void meet(const Worker& worker, uint64_t lanes);
void inactive_matrix_lanes(int line, const char* detail);  // a matrix instruction without all lanes

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
inline void inactive_matrix_lanes(int, const char*) {}

}  // namespace checks

#endif

}  // namespace hipcpu

// Faults of the program: told as one JSON object, once, and then the process ends.
#pragma once

namespace hipcpu {

struct Worker;

// Ends the process because the machine could not do its part; the program is not to blame.
[[noreturn]] void die(const char* why);

// A fault that the runtime itself noticed; `kind` is one of the documented words.
[[noreturn]] void fault(const char* kind, const char* detail, int exit_code);

// Faults of the calling OS thread are handled on a stack of their own.
void use_signal_stack();

// The search for the thread that faulted found none.
[[noreturn]] void end_replay(Worker& worker);

}  // namespace hipcpu

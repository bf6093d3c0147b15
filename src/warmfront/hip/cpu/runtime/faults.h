// Faults of the program. The first one is reported as a JSON object, and then the process ends.
#pragma once

namespace hipcpu {

struct Worker;

// Ends the process because of the machine, for example out of memory; not a fault of the program.
[[noreturn]] void die(const char* why);

// Reports a fault that the runtime detected itself; hooks.h lists the kinds.
[[noreturn]] void fault(const char* kind, const char* detail, int exit_code);

// Gives the calling OS thread a separate stack for its signal handler.
void use_signal_stack();

// Reports that the replay found no thread that faults.
[[noreturn]] void end_replay(Worker& worker);

}  // namespace hipcpu

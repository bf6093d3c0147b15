"""Compile, check and time a submission, and decide its verdict from outside the sandbox.

Theory of operation
===================

A submission is native code. It runs on the host CPU of the machine that launches its kernels, and can do
anything that a C++ program can do inside its process. So there are two processes:

- The *harness* owns the buffers, the clock and the protocol, and never loads foreign code. On the CPU runtime
  it is the judge itself (`guest.py`, `case_timer.py`): an ordinary Python process. For a GPU, the judge
  commands our own small program in a separate box (`harness.cpp`, `case_memory.py`) that owns the device
  memory; the guest opens it by IPC handles. The same source is tested on the CPU runtime.
- The *guest* (`guest.cpp`) is our small program in the run box. It loads `solution.so`, opens the harness's
  memory, and calls `solution` when it gets a "go". As soon as submitted code has run, the guest is considered
  to be that code.

    judge and harness (trusted)   compile box                 run box
    ---------------------------   -----------                 -------
    translate the source    ---->  compiler
    generate the inputs               |  solution.so
    compute the expected              +-------------------->  guest: dlopen(solution.so)
    outputs
    stop the guest
    write inputs and poison ----- shared memory ----------->  (stopped)
    start the clock, let it run                               solution(), N times
    stop the guest; when it is stopped: stop the clock
    read and compare        <---- shared memory ------------  (stopped)
    believe nothing         <---- answers (FIFO) -----------  claims: launches, errors, HIP events

The compiler runs in its own box, because compiling hostile source is dangerous as well. The only file that
the judge takes out of that box is `solution.so`, of bounded size, which it passes on as opaque bytes. The
*bug finder* (`bug_finder.py`) runs an instrumented build in separate boxes, alongside the run that decides. A
box (`warmfront.sandbox`) has no network, a read-only root, no capabilities, an allow list of system calls,
and limits; it is used for one job and then destroyed.

What an attacker controls
-------------------------

Everything in the guest's process: its memory, the HIP runtime in it, its clocks, events and heap, its
threads, every descriptor that it holds, each byte of its answers and of its output, and when it answers. It
also controls the bytes of the shared memory while it runs. The attacker knows the source of this program.

What the judge uses
-------------------

Three things, and nothing else decides a verdict or a time:

1. Bytes that it wrote while the guest was stopped, and bytes that it read while the guest was stopped again.
2. Its own clock.
3. What the kernel reports about the box: that it is stopped, how much CPU time all its processes used, how
   long they waited for a CPU, how it ended, and whether it reached a limit.

Why that suffices
-----------------

- *Outputs.* Inputs and hidden sizes are drawn from a secret seed, and the expected outputs are computed
  outside; neither the seed nor the outputs ever enter the run box. Outputs are filled with poison, a
  signaling NaN with random bits, and tensors lie between guard zones. Whatever the guest says, only correct
  bytes in every output of every call pass (`output_check.py`, `buffer_layout.py`). They are read with read()
  and never with mmap(), since the guest could truncate the file.
- *Time.* In a window of N calls the inputs become visible when the guest is resumed, and the outputs are read
  after it is stopped. The work for N correct outputs is therefore done between the two, by processes of the
  box, and the kernel counts their CPU time. Work after the answer counts, until all of the box is stopped.
  Skipped calls leave poison. A result cannot be reused, because every call has different inputs.
- *On a GPU.* Inputs and outputs of a timed call never pass through the host. The harness mixes the inputs
  from two base sets by secret random bits (`mixed_inputs.py`, `slot_kernels.h`), so the result of another
  call is useless. It checks inputs, guard zones and outputs with its own reference (`device_references.h`).
  Of large matrix products, whose reference takes a hundred times as long as the kernel, it checks one row of
  every eight, drawn at random after the call. NumPy recomputes every output that this check rejects, and
  decides. The clock and the time limits run only while a command is executed.
- *The slope.* Windows with few and with many calls alternate, and the slope removes constant costs. A guest
  could waste time in the small windows to lower the slope. So a pair never counts for less than its large
  window divided by its calls, without the overhead of a window, which is measured in the same box before
  submitted code is loaded (`statistics.py`).
- *A busy machine.* CPU time does not increase while other processes use the CPU. Windows in which the guest
  had to wait are discarded and counted, as long as there are enough others; otherwise the interval is
  widened, and beyond a limit the result is marked noisy. Time limits count CPU time too, with the wall clock
  as a distant backstop.
- *A slow CPU.* CPU time increases when the CPU itself is slower: another VM on the host uses the other
  hardware thread of its core, or its clock frequency falls. So the judge itself runs a fixed computation
  before and after each window, on the guest's CPU, and moves the guest and itself to a CPU that is not slowed
  (`machine_speed.py`). Windows next to a slow measurement are discarded, like windows that waited. The others
  are scaled to the fastest recent speed, by at most 15%, as clock frequencies vary that much. A guest that
  made the CPU slower on purpose would need as much more time for its own calls.
- *Text.* Everything that comes out of a box passes one typed, bounded parser (`box_messages.py`).

What remains
------------

- On the CPU runtime, a time is the CPU time of one core of this machine. It says little about a GPU.
- Claims that only affect messages can be forged: the last HIP error, the number of launches, faults, threads
  that still run, the records of the bug finder, and the time by HIP events, which is shown as self-reported.
  So a submission is not detected if it checks whether device memory is protected, computes on the host in
  timed calls, and launches an empty kernel. Its time is the true time of its host code.
- Two boxes share caches and memory bandwidth with the rest of the machine. That changes times by a few
  percent; the interval includes it.
- A GPU cannot be stopped like a process. Inputs are revealed by a copy on the device after the clock starts,
  and outputs are saved by another copy before it stops; the time of both is measured with an empty guest and
  subtracted. A kernel that keeps running on the GPU could begin while the first copy is under way.
- A detached thread, or a stream without a synchronization, can work after `solution` has returned. It gains
  nothing in the last call of a window, because SAVE copies the outputs next, and later writes are not read.
  In an earlier call it overlaps with the next calls, which are all inside the timed window. Inputs are
  compared after the clock has stopped: a kernel may use them as scratch memory and restore them later, which
  needs a copy of them, and so costs more than it saves.
- The references of the harness run on the GPU that they check. If a GPU computes the same wrong values for
  both, only the small cases reveal it, because NumPy checks those.
- A result whose machine cannot give a guarantee (no freezer, no shared device memory) says so in
  `missing_guarantees`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.judge.judge import Judge

__all__ = ["Judge"]


def __getattr__(name: str) -> object:
    """Load the judge on first use, so that compilers can be started before it is imported."""
    if name != "Judge":
        raise AttributeError(name)
    from warmfront.judge.judge import Judge  # noqa: PLC0415 - see the docstring

    return Judge

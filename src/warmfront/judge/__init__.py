"""Compile, check and benchmark a submission, and decide its verdict from outside the sandbox.

Theory of operation
===================

A submission is native code. It runs on the host CPU of the machine that launches its kernels, with every
power that a C++ program has inside its process: it can overwrite memory, replace functions, write to any open
file descriptor, start threads and forge whatever that process prints. So nothing that decides the verdict is
in that process.

What runs where
---------------

    judge (trusted)              compile box                  run box
    ---------------              -----------                  -------
    translate the source   ---->  compiler
    generate the inputs              |  solution.so
    compute the expected             +--------------------->  guest: dlopen(solution.so)
    outputs
    write inputs and poison  ---- data file --------------->  copy to the device,
                                                              call solution(),
    compare the outputs      <--- data file ----------------  copy back
    read its own clock       <--- answers (FIFO) -----------  claims: times, launches, errors

- The *judge* (`judge.py`) is an ordinary Python process. It never loads or executes submitted code.
- The *compiler* runs in a box of its own, because compiling hostile source is hostile as well: templates that
  never finish, #include of a secret, gigabytes of output. The only file that the judge takes out of this box
  is `solution.so`, which it passes on as opaque bytes.
- The *guest* (`guest.cpp`) is our small program in the run box. It loads `solution.so` into its own process
  and obeys the commands LOAD, PLAN, RUN and QUIT (`guest.py`). As soon as submitted code has run, the guest
  is considered to be that code.
- The *bug finder* (`bug_finder.py`) runs an instrumented build in boxes of its own, beside the run that
  decides.

A box (`warmfront.sandbox`) has no network, a read-only root, no capabilities, a seccomp filter, and limits on
memory, processes, output, files and wall clock. Each box is used for one job and then destroyed.

What the judge believes, and what it verifies
---------------------------------------------

Verified, because the judge computes or observes it itself:

- Outputs. Inputs are generated from a secret random seed and expected outputs are computed outside; neither
  the seed nor the expected outputs ever enter the run box. The judge reads the output bytes from the data
  file, with read() and never mmap(), since the guest could truncate the file, and compares them
  (`output_check.py`).
- Bounds. Around every tensor lie guard zones with a random pattern, and outputs are filled with poison, a
  signalling NaN. A write outside a tensor changes a guard zone, an element that was
  never written is still poison, and inputs must come back bit for bit (`buffer_layout.py`).
- The end of the process. Exit code, signal, out-of-memory kills and time limits come from the sandbox.
- Freshness of answers. Every command has a random nonce, and an answer counts only if it repeats that nonce.
  This stops answers that were prepared in advance. It does not authenticate the guest: submitted code can
  read the nonce in its own process.

Believed, because a lie gains neither a correct output nor a better time: the last HIP error, the number of
kernel launches, the threads still running, the details of a fault, and the records of the bug finder. Each is
parsed defensively: sizes are bounded, text is filtered, and what cannot be parsed is dropped.

How time is measured and audited
--------------------------------

The reported time of a call is measured by the guest with HIP events around the call and a synchronisation of
the whole device. It is therefore a claim, and the judge audits it with a clock that the guest cannot reach
(`case_timer.py`):

1. The judge measures a RUN command with one call and one with N calls, from sending the command to receiving
   the answer. Both commands copy the same buffers, so that the slope (t_N - t_1) / (N - 1) is the cost of one
   more call, without the cost of the copies and of the channel.
2. Noise only ever adds time, so the smallest t_1 and t_N of several rounds are used, and N grows until t_N is
   large compared with t_1.
3. A claim that is lower than the slope by a factor of more than `DOUBTED` is replaced by the slope, with a
   note in the result. By more than `FORGED`, in `CLOCK_TRIES` independent tries, it is `TIME_FORGED`.
4. On a GPU, a time below the roofline floor max(bytes / bandwidth, operations / peak) is rejected: it is
   physically impossible.

Every sample has inputs of its own and its output is verified like any other, so a kernel can neither reuse an
earlier result nor skip work while it is timed. On a GPU the caches are flushed before each sample.

What remains possible: the guest can report a time that is too low by less than `DOUBTED`, because the process
that launches the kernels also holds the HIP events.
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

"""Tests of refused names: which are found and where, and what stays allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmfront.hip.source.refusals import EVALUATOR_DETECTED, HOST_ESCAPE, SourceRefused, refuse

ROOT = Path(__file__).parents[4]

DETECTING = {
    "#ifdef HIPCPU_CHECKED\n#endif\n": (1, 8, "HIPCPU_CHECKED"),
    "\nint x = hipcpu::kWaveSize;\n": (2, 9, "hipcpu"),
    "#include <hipcpu/hooks.h>\n": (1, 11, "hipcpu"),
    '#include "hipcpu/hooks.h"\n': (1, 10, "hipcpu/hooks.h"),
    "#if __has_include(<hipcpu/core.h>)\n#endif\n": (1, 20, "hipcpu"),
    "#if __has_include(<rocwmma/rocwmma.hpp>)\n#endif\n": (1, 5, "__has_include"),
    "#if defined(__OPTIMIZE__)\n#endif\n": (1, 13, "__OPTIMIZE__"),
    "#ifdef __SANITIZE_THREAD__\n#endif\n": (1, 8, "__SANITIZE_THREAD__"),
    "#if __has_feature(thread_sanitizer)\n#endif\n": (1, 5, "__has_feature"),
    "#if __has_builtin(__builtin_amdgcn_rcpf)\n#endif\n": (1, 5, "__has_builtin"),
    "#ifndef __clang__\n#endif\n": (1, 9, "__clang__"),
    "#if __GNUC__ > 4\n#endif\n": (1, 5, "__GNUC__"),
    "void f() { warmfront_call(nullptr); }\n": (1, 12, "warmfront_call"),
    # A compiler joins continued lines and supports digraphs.
    "#ifdef HIP\\\nCPU_CHECKED\n#endif\n": (1, 8, "HIPCPU_CHECKED"),
    "%:ifdef HIPCPU_CHECKED\n%:endif\n": (1, 9, "HIPCPU_CHECKED"),
}

ESCAPING = {
    "void f(void* p) { mprotect(p, 4096, 3); }\n": (1, 19, "mprotect"),
    "auto* at = &::mprotect;\n": (1, 15, "mprotect"),
    'extern "C" long syscall(long, ...);\n': (1, 17, "syscall"),
    'void* p = dlsym(nullptr, "x");\n': (1, 11, "dlsym"),
    'int f() __attribute__((ifunc("choose")));\n': (1, 24, "ifunc"),
    '__attribute__((section(".init_array"))) void (*hook)() = f;\n': (1, 24, ".init_array"),
    '__attribute__((section(".init_array.00001"), used)) void (*hook)() = f;\n': (1, 24, ".init_array"),
    'int protect(void*, long, int) asm("mprotect");\n': (1, 35, "mprotect"),
    "void* p = __builtin_return_address(0);\n": (1, 11, "__builtin_return_address"),
}

PASTED = {
    "#define JOIN(a, b) a##b\nint x = JOIN(HIPC, PU_CHECKED);\n": "HIPCPU_CHECKED",
    "#define ASK(name) HIPC##name\nint x = ASK(PU);\n": "HIPCPU",
    "#define FIXED HIP##CPU_CHECKED\n": "HIPCPU_CHECKED",
    "#define ASK(name) HIPC##name\n#define APPLY(f, x) f(x)\nint x = APPLY(ASK, PU);\n": "HIPCPU",
    "#define ASK(name) HIPC##name\n#define OTHER ASK\nint x = OTHER(PU);\n": "HIPCPU",
    "#define J(a, b) a %:%: b\nint x = J(HIPC, PU);\n": "HIPCPU",
    "#define J(a, b, c) a##b##c\nint x = J(HI, PC, PU_X);\n": "HIPCPU_X",
    "#define J2(a, b) a##b\n#define J(a, b) J2(a, b)\nint x = J(mpro, tect)(p, 1, 3);\n": "mprotect",
    "#define LEFT HIPC\n#define J2(a, b) a##b\n#define J(a, b) J2(a, b)\nint x = J(LEFT, PU);\n": "HIPCPU",
}

ALLOWED = {
    "a comment": "// HIPCPU_CHECKED, mprotect and __OPTIMIZE__\n/* hipcpu_launch_count */\n",
    "a string": 'const char* text = "HIPCPU_CHECKED dlsym .init_array";\n',
    "macros of hipcc": "#if defined(__HIP_DEVICE_COMPILE__) && defined(__gfx942__)\n#endif\n"
    "#ifdef __AMDGCN__\n#endif\n#if __AMDGCN_WAVEFRONT_SIZE__ == 64\n#endif\n",
    "a defined __GNUC__": "#if defined(__GNUC__) || defined __GNUC__\n#endif\n#ifdef __GNUC__\n#endif\n",
    "debugging": "#ifdef NDEBUG\n#endif\n#ifndef DEBUG\n#endif\n",
    "headers": "#if __has_include(<hip/hip_fp16.h>)\n#include <hip/hip_fp16.h>\n#endif\n",
    "an argument of a function, not of the macro": (
        "#define HOST_TYPE(x) hip##x\nHOST_TYPE(Stream_t) s;\nint y = printf(f, gpu_val, cpu_val);\n"
    ),
    "hip calls by a macro": "#define CALL(name, ...) hip##name(__VA_ARGS__)\nint cpu_x;\n"
    "void f(void* p) { CALL(Free, p); }\n",
    "similar names": "int xray_image, hip_cpu, section, sections[3], my_syscall, Ifunc;\n",
    "a member": "struct S { int x; }; int f(S s) { return s.x; }\n",
    "a constructor": "struct Table { Table() {} };\nstatic Table table;\n"
    "__attribute__((constructor)) static void fill() {}\n",
    "a section of its own": '__attribute__((section(".data.kernels"))) int x = 1;\n',
    "an unterminated comment": "/* HIPCPU_CHECKED",
}


@pytest.mark.parametrize("source", DETECTING)
def test_a_name_that_detects_the_evaluator(source: str) -> None:
    """A name that distinguishes a check from a GPU is refused, with its position."""
    with pytest.raises(SourceRefused) as caught:
        refuse(source)
    assert (caught.value.line, caught.value.column) == DETECTING[source][:2]
    assert DETECTING[source][2] in caught.value.message
    assert caught.value.code == EVALUATOR_DETECTED
    assert caught.value.hint


@pytest.mark.parametrize("source", ESCAPING)
def test_a_name_that_escapes(source: str) -> None:
    """A function or an attribute that no kernel file needs is refused with its position."""
    with pytest.raises(SourceRefused) as caught:
        refuse(source)
    assert (caught.value.line, caught.value.column) == ESCAPING[source][:2]
    assert ESCAPING[source][2] in caught.value.message
    assert caught.value.code == HOST_ESCAPE


@pytest.mark.parametrize("source", PASTED)
def test_a_pasted_name(source: str) -> None:
    """A refused name that a macro forms with ## is refused where it is pasted."""
    with pytest.raises(SourceRefused, match="formed by ##") as caught:
        refuse(source)
    assert f"'{PASTED[source]}'" in caught.value.message
    assert "##" in source.replace("%:%:", "##").splitlines()[caught.value.line - 1]


@pytest.mark.parametrize("name", ALLOWED)
def test_what_stays_allowed(name: str) -> None:
    """Comments, strings, macros of hipcc and ordinary C++ are not refused."""
    refuse(ALLOWED[name])


def _honest_sources() -> list[Path]:
    corpora = (
        "examples",
        "tests/corpus/solutions",
        "tests/corpus/programs",
        "tests/corpus/xray",
        "tests/corpus/bugs",
    )
    sources = [path for corpus in corpora for path in sorted((ROOT / corpus).rglob("*.hip"))]
    assert len(sources) > 50
    return sources


def test_no_honest_source_is_refused() -> None:
    """Every example and every kernel of the corpora passes; three use our own functions."""
    refused = set()
    for path in _honest_sources():
        try:
            refuse(path.read_text())
        except SourceRefused:
            refused.add(path.stem)
    assert refused == {"builtins", "core_faults", "core_ipc"}


def test_a_long_source_is_fast() -> None:
    """The work grows linearly with the source, even if it pastes many tokens."""
    names = ", ".join(f"H{i}, HIPC{i}" for i in range(5000))
    refuse(f"#define J(a, b, c, d) a##b##c##d\nint f({names});\n")

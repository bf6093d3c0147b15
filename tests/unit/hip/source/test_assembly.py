"""Inline assembly and declarations of intrinsics: what is translated, and what stays as it is."""

from __future__ import annotations

import re

import pytest

from warmfront.hip.source.rewrite import rewrite


def translated(statement: str) -> str:
    """Return a statement of a function after translation, with single spaces."""
    text = rewrite(f"void f() {{ {statement} }}").text
    return re.sub(r"\s+", " ", text.removeprefix("void f() { ").removesuffix(" }"))


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ('asm volatile("s_waitcnt vmcnt(3) lgkmcnt(0)" ::: "memory");', "wait_for_memory((3), (0))"),
        ('asm volatile("s_waitcnt vmcnt(%0)" :: "n"(N));',
         "wait_for_memory((hipcpu_0), ::hipcpu::kNoWait)"),
        ('asm("v_mov_b32 %0, %1" : "=v"(v[0]) : "v"(x));', "(v[0]) = hipcpu_0;"),
        ('asm("s_barrier");', "::hipcpu::bare_barrier(__LINE__);"),
        ('__asm__ __volatile__("v_add_f32 %0, %1, 1.0" : "=v"(x) : "v"(y));',
         "hipcpu_1, ::hipcpu::gcn::Bits(1065353216u)"),
        ('asm("v_add_f32 %0, %2, %1" : "=v"(x) : "0"(x), "v"(y));',
         "v_add_f32(hipcpu_0, hipcpu_2, hipcpu_0)"),
        ('asm("ds_read_b64 %[d], %[a] offset:8*4+2" : [d]"=v"(d) : [a]"v"(p));',
         "ds_read<8, false>(hipcpu_0, hipcpu_1, (8*4+2))"),
        ('asm("buffer_load_dwordx4 %0, %1, %2, 0 offen offset:%3" : "=v"(d) : "v"(o), "s"(r), "n"(4));',
         "buffer_load<16>"),
        ('asm("v_mfma_f32_32x32x8_bf16 %0, %1, %2, 0 cbsz:1" : "=v"(c) : "v"(a), "v"(b));',
         "mfma_f32_32x32x8bf16_1k, hipcpu_0, hipcpu_1, hipcpu_2, ::hipcpu::gcn::Bits(0u), (1), 0, 0,"),
        ('asm("v_mfma_f32_4x4x1_16b_f32 %0, %1, %2, %0" : "+v"(c) : "v"(a), "v"(b));',
         "__builtin_amdgcn_mfma_f32_4x4x1f32"),
        ('asm("ds_read2st64_b64 %0, %1 offset1:2" : "=v"(d) : "v"(p));',
         "ds_read2<8>(hipcpu_0, hipcpu_1, 0 * 512, (2) * 512)"),
        ('asm("s_memtime %0" : "=s"(t));', "s_memtime(hipcpu_0)"),
        ('asm volatile("s_nop 0 ; a comment\\n" "s_setprio 1");', "do { } while (0)"),
    ],
)  # fmt: skip
def test_translates_known_assembly(statement: str, call: str) -> None:
    """A statement of known instructions becomes calls, with its operands as variables."""
    assert call in translated(statement)


@pytest.mark.parametrize(
    "statement",
    [
        'asm volatile("v_mfma_f32_32x32x8_f16 %0, %1, %2, 1" : "+v"(c) : "v"(a), "v"(b));',
        'asm volatile("v_mfma_f32_32x32x9_f16 %0, %1, %2, %0" : "+v"(c) : "v"(a), "v"(b));',
        'asm volatile("v_mfma_f32_32x32x8_f16 a[0:15], %0, %1, 0" :: "v"(a), "v"(b));',
        'asm volatile("ds_read2_b96 %0, %1 offset1:1" : "=v"(x) : "v"(y));',
        'asm volatile("v_cmp_lt_f32 vcc, %0, %1" :: "v"(x), "v"(y));',
        'asm volatile("global_load_dwordx4 v[24:27], %0, off" :: "v"(p));',
        'asm volatile("v_add_f32 %0, -%1, %2" : "=v"(x) : "v"(y), "v"(z));',
        'asm volatile("v_add_f32 %0, %1, %2 row_shr:1" : "=v"(x) : "v"(y), "v"(z));',
        'asm volatile("s_waitcnt vscnt(0)");',
        'asm volatile("ds_read_b128 %0, %1 gds" : "=v"(x) : "v"(y));',
    ],
)
def test_leaves_other_assembly_alone(statement: str) -> None:
    """A statement with any part that is not known stays for the compiler, which rejects it."""
    assert translated(statement) == statement


def test_keeps_lines_and_works_in_macros() -> None:
    """A statement of several lines keeps its number of lines, also in the body of a macro."""
    macro = '#define WAIT() asm volatile( \\\n  "s_waitcnt 0" \\\n  ::: "memory")\n'
    source = macro + 'void f() {\n  asm("s_nop 0\\n"\n      "s_nop 0");\n}\n'
    text = rewrite(source).text
    assert text.count("\n") == source.count("\n")
    assert "wait_for_memory(0, 0);" in text.splitlines()[0]
    assert "asm" not in text


def test_defines_an_intrinsic_with_names_for_its_parameters() -> None:
    """A declaration with the label of an intrinsic becomes a definition."""
    source = '__device__ float get(int4v, int, ns::T x) __asm("llvm.amdgcn.raw.buffer.load.f32");'
    text = rewrite(source).text
    assert (
        "get(int4v hipcpu_0, int hipcpu_1, ns::T x) { return ::hipcpu::intrinsic_buffer_load(hipcpu_0" in text
    )
    assert rewrite(source).headers == ("hipcpu/builtins/assembly.h", "hipcpu/builtins/buffers.h")


def test_leaves_other_labels_alone() -> None:
    """The label of another intrinsic stays, so that the linker reports it."""
    source = 'void f(int) __asm("llvm.amdgcn.struct.buffer.load.f32");'
    assert rewrite(source).text == source

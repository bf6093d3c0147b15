"""The X-ray's parsers and analyses: symbols, launches, instructions, lanes and assembly."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from warmfront.hip.xray.assembly import InstructionKind, kind_of, read_assembly, width_of
from warmfront.hip.xray.demangler import bare_name, demangle
from warmfront.hip.xray.isa_listing import listing_blocks, side_by_side
from warmfront.hip.xray.kernel_launches import block_of, find_launches, kernel_lines
from warmfront.hip.xray.lane_analysis import trace_lanes
from warmfront.hip.xray.wave32 import find_assumptions
from warmfront.hip.xray.xray_findings import conflict_ways

ASSEMBLY = """\
\t.protected\t_Z3addPf            ; -- Begin function _Z3addPf
_Z3addPf:                               ; @_Z3addPf
; %bb.0:
\t.loc\t1 71 57 prologue_end            ; include/core.h:71:57 @[ solution.hip:4:9 ]
\ts_load_dwordx2 s[0:1], s[0:1], 0x0
\tv_lshlrev_b32_e32 v1, 2, v0
.LBB0_1:                                ; =>This Loop Header: Depth=1
                                        ;     Child Loop BB0_2 Depth 2
\t.loc\t0 6 5                           ; solution.hip:6:5
\tv_add_u32_e32 v1, 4, v1
.LBB0_2:                                ;   Parent Loop BB0_1 Depth=1
                                        ; =>  This Inner Loop Header: Depth=2
\tds_read_b32 v2, v1
\ts_cbranch_scc1 .LBB0_2
; %bb.3:                                ;   in Loop: Header=BB0_1 Depth=1
\t.loc\t0 0 5                           ; solution.hip:0:5
\ts_cbranch_scc0 .LBB0_1
; %bb.4:
\tglobal_store_dword v1, v2, s[0:1]
\ts_endpgm
; Kernel info:
; codeLenInByte = 52
; NumVgprs: 3
; NumAgprs: 0
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .offset:         0
        .name:           not_the_kernel
    .max_flat_workgroup_size: 256
    .name:           _Z3addPf
    .vgpr_count:     3
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
...

\t.end_amdgpu_metadata
"""


def test_reads_assembly() -> None:
    """Every instruction has its source line, also through inlined headers, and its loop depth."""
    ((function, metadata),) = read_assembly(ASSEMBLY).kernels()
    assert [(item.mnemonic, item.line, item.depth) for item in function.instructions] == [
        ("s_load_dwordx2", 4, 0),
        ("v_lshlrev_b32_e32", 4, 0),
        ("v_add_u32_e32", 6, 1),
        ("ds_read_b32", 6, 2),
        ("s_cbranch_scc1", 6, 2),
        ("s_cbranch_scc0", None, 1),
        ("global_store_dword", None, 0),
        ("s_endpgm", None, 0),
    ]
    assert function.parents == {"BB0_1": None, "BB0_2": "BB0_1"}
    assert function.info == {"codeLenInByte": 52, "NumVgprs": 3, "NumAgprs": 0}
    assert metadata == {
        "agpr_count": "0",
        "max_flat_workgroup_size": "256",
        "name": "_Z3addPf",
        "vgpr_count": "3",
    }


def test_lists_assembly_beside_source() -> None:
    """A source line is shown once next to its instructions, and each loop has a bar."""
    ((function, _),) = read_assembly(ASSEMBLY).kernels()
    source = "\n".join(f"line {number}" for number in range(1, 9))
    rows = list(side_by_side(listing_blocks(function.instructions, function.labels), source, 80))
    assert rows[0].split() == ["4", "line", "4", "s_load_dwordx2", "s[0:1],", "s[0:1],", "0x0"]
    assert rows[1].split() == ["v_lshlrev_b32_e32", "v1,", "2,", "v0"]
    assert any(row.strip() == ".LBB0_2:" for row in rows)
    assert any(row.endswith("| | ds_read_b32 v2, v1") for row in rows)


@pytest.mark.parametrize(
    "text", ["", "garbage\n\t\0\n", "\t.amdgpu_metadata\n", ASSEMBLY[:300], ASSEMBLY[300:]]
)
def test_invalid_assembly(text: str) -> None:
    """Truncated or meaningless assembly gives no traceback."""
    assert list(read_assembly(text).kernels()) in ([], list(read_assembly(text).kernels()))


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z6matmulPKfS0_Pfmmm", "matmul"),
        ("_Z5spillILi120EfEvPT0_", "spill<120, float>"),
        ("_ZN5inner4deep3addEPf", "inner::deep::add"),
        ("_Z3mapI6__halfLb1ELin3EEvPT_", "map<__half, true, -3>"),
        ("_ZN12_GLOBAL__N_11kEPf", "(anonymous)::k"),
        ("_Z1kIJfdEEvDpPT_", "k<float, double>"),
        ("_ZL1kPf", "k"),
        ("_Z1kIN2ns1TEEvT_", "k<ns::T>"),
        ("_Z1kI15HIP_vector_typeIfLj4EEEvPT_", "k<HIP_vector_type<float, 4u>>"),
        ("plain", "plain"),
        ("_Z", "_Z"),
        ("_Z9999x", "_Z9999x"),
        ("_ZZ4mainENKUlPfE_clES_", "_ZZ4mainENKUlPfE_clES_"),
    ],
)
def test_demangles(symbol: str, name: str) -> None:
    """A symbol is demangled to the author's name; an unsupported symbol is returned unchanged."""
    assert demangle(symbol) == name


def test_bare_names() -> None:
    """The bare name has no namespace and no template arguments."""
    assert bare_name("a::b::add<ns::T, 4>") == "add"


@pytest.mark.parametrize(
    ("mnemonic", "kind", "width"),
    [
        ("global_load_dwordx4", InstructionKind.GLOBAL_LOAD, 16),
        ("global_load_ushort", InstructionKind.GLOBAL_LOAD, 2),
        ("global_load_short_d16_hi", InstructionKind.GLOBAL_LOAD, 2),
        ("flat_store_byte", InstructionKind.GLOBAL_STORE, 1),
        ("global_atomic_add_f32", InstructionKind.GLOBAL_ATOMIC, 4),
        ("ds_read2_b64", InstructionKind.LDS_READ, 16),
        ("ds_write_b128", InstructionKind.LDS_WRITE, 16),
        ("ds_add_u32", InstructionKind.LDS_ATOMIC, 4),
        ("ds_bpermute_b32", InstructionKind.SHUFFLE, 4),
        ("v_mfma_f32_32x32x8_f16", InstructionKind.MFMA, 4),
        ("v_pk_fma_f32", InstructionKind.VALU, 4),
        ("s_waitcnt", InstructionKind.WAIT, 4),
        ("s_barrier", InstructionKind.BARRIER, 4),
        ("s_cbranch_execz", InstructionKind.BRANCH, 4),
        ("s_load_dwordx4", InstructionKind.SCALAR_LOAD, 16),
        ("s_add_u32", InstructionKind.SALU, 4),
        ("scratch_store_dwordx2", InstructionKind.SCRATCH, 8),
        ("s_swappc_b64", InstructionKind.CALL, 8),
        ("unheard_of", InstructionKind.OTHER, 4),
    ],
)
def test_kinds_of_instructions(mnemonic: str, kind: InstructionKind, width: int) -> None:
    """Each mnemonic has one kind, and a width in bytes per lane."""
    assert kind_of(mnemonic) is kind
    assert width_of(mnemonic) == width


def test_scratch_of_gfx90a() -> None:
    """On gfx90a scratch is accessed through the buffer in the first four scalar registers."""
    assert kind_of("buffer_store_dword", "v0, off, s[0:3], 0 offset:4") is InstructionKind.SCRATCH
    assert kind_of("buffer_load_dword", "v0, v1, s[8:11], 0 offen") is InstructionKind.GLOBAL_LOAD


TOKENS = (
    *("__global__", "void", "k", "<<<", ">>>", ">", "<", "(", ")", "{", "}", ",", ";", "=", "dim3", "const"),
    *(
        "int",
        "256",
        "0x",
        "1'0",
        "16",
        "for",
        "/=",
        "2",
        "__shfl_down",
        "__ballot",
        "unsigned",
        "#define A 4\n",
        "A",
    ),
    *("'", '"', "/*", "*/", "//\n", "\\\n", "::", "template", "return"),
)

LAUNCHES = """\
#define WIDTH 32
constexpr int ROWS = 4 + 2 * 2;
const dim3 block(WIDTH, ROWS);
template <int N> __global__ __launch_bounds__(256) void a(float*);
__global__ void
b(float*);
void go(int n) {
    const size_t threads = size_t(256);
    a<16><<<n, threads>>>(0);
    ns::b<<<dim3(n), block, 64 * 1024 + 16>>>(0);
    c<<<1, n>>>(0);
    d<<<1, dim3{8, 8}>>>(0);
    e<<<1, 64>>>(0);
    e<<<1, 128>>>(0);
}
"""


def test_finds_launches() -> None:
    """Block sizes are read from numbers, constants and dim3s; sizes that are not constant are None."""
    launches = find_launches(LAUNCHES)
    assert {(item.kernel, item.line): (item.block, item.lds_bytes) for item in launches} == {
        ("a", 9): ((256, 1, 1), 0),
        ("b", 10): ((32, 8, 1), 65552),
        ("c", 11): (None, 0),
        ("d", 12): ((8, 8, 1), 0),
        ("e", 13): ((64, 1, 1), 0),
        ("e", 14): ((128, 1, 1), 0),
    }


def test_two_sizes_of_block() -> None:
    """A kernel that is launched with two block sizes has no single block size."""
    launches = find_launches(LAUNCHES)
    assert block_of(launches, "e") is None
    assert block_of(launches, "a") == (256, 1, 1)


def test_circular_constants() -> None:
    """Circularly defined constants have no value, and evaluating them ends."""
    source = "#define A B\n#define B A\nvoid f() { k<<<1, A>>>(); }\n"
    assert [launch.block for launch in find_launches(source)] == [None]


def test_a_name_with_two_values() -> None:
    """A name that is defined twice with different values has no value."""
    source = "const int T = 64;\nvoid f() { const int T = 128; k<<<1, T>>>(); }\n"
    assert [launch.block for launch in find_launches(source)] == [None]


def test_a_constant_that_is_also_a_parameter() -> None:
    """A name that is a constant in one place and a parameter in another has no value."""
    source = "const int T = 64;\nvoid f(int T) { k<<<1, T>>>(); }\n"
    assert [launch.block for launch in find_launches(source)] == [None]


@given(st.lists(st.sampled_from(TOKENS), max_size=60).map(" ".join))
def test_reads_any_source(source: str) -> None:
    """Launches, kernels and assumptions are read from arbitrary tokens without a traceback."""
    assert all(launch.line > 0 for launch in find_launches(source))
    assert all(line > 0 for line in kernel_lines(source).values())
    assert all(assumption.line > 0 for assumption in find_assumptions(source))


@example("NE")
@given(st.text(alphabet="_ZNEIKPS0123456789tsLifbjJ", max_size=40))
def test_demangles_anything(symbol: str) -> None:
    """Every symbol gives a name."""
    assert demangle(f"_Z{symbol}") or not symbol


@pytest.mark.parametrize(
    "source",
    [
        "<<<" * 40_000,
        "for (i = 16; i > 0; i /= 2) " * 8_000,
        "const int a = ( " * 12_000,
        "#define A0 1\n"
        + "".join(f"#define A{i + 1} A{i} + A{i} * A{i}\n" for i in range(2000))
        + "k<<<1, A2000>>>();",
        "k<<<1, " + "(" * 50_000,
        "__global__ " * 20_000,
        "unsigned v = __ballot(" * 8_000,
    ],
    ids=["launches", "loops", "constants", "definitions", "brackets", "kernels", "votes"],
)
def test_long_input_takes_linear_time(source: str) -> None:
    """Long meaningless input is read in time that does not grow quadratically."""
    assert len(find_launches(source)) <= 1000
    assert isinstance(kernel_lines(source), dict)
    assert isinstance(find_assumptions(source), list)


def test_deep_symbols() -> None:
    """A very deeply nested symbol is returned unchanged."""
    symbol = "_Z1kI" + "P" * 100_000 + "fEvv"
    assert demangle(symbol) == symbol


def test_lines_of_kernels() -> None:
    """The line of a kernel is that of its name, after attributes and templates."""
    assert kernel_lines(LAUNCHES) == {"a": 4, "b": 6}


def test_source_that_cannot_be_tokenized() -> None:
    """A source that cannot be tokenized has no launches and no kernels."""
    assert find_launches("/* never closed") == []
    assert kernel_lines("/* never closed") == {}
    assert find_assumptions("/* never closed") == []


def test_traces_lanes() -> None:
    """The address of each lane is traced through shifts and sums with uniform values."""
    ((function, _),) = read_assembly(ASSEMBLY).kernels()
    accesses = trace_lanes(function.instructions, None).accesses
    assert [access.address.lanes[:4] for access in accesses] == [(4, 8, 12, 16), (4, 8, 12, 16)]


def test_traces_lanes_of_a_tile() -> None:
    """In a block of 16 x 16 threads, lane 16 is the first thread of the second row."""
    ((function, _),) = read_assembly(ASSEMBLY).kernels()
    lanes = trace_lanes(function.instructions, (16, 16, 1)).accesses[0].address.lanes
    assert lanes[15] == 4 + 15 * 4
    assert lanes[16] == 4 + (1 << 10) * 4  # x, y and z are packed in one register


@pytest.mark.parametrize(
    ("stride", "width", "banks", "ways"),
    [
        (4, 4, 32, 1), (8, 4, 32, 2), (16, 4, 32, 4), (128, 4, 32, 32), (132, 4, 32, 1), (0, 4, 32, 1),
        (8, 8, 32, 1), (16, 16, 32, 1), (256, 8, 32, 16), (128, 4, 64, 32), (256, 4, 64, 64), (2, 2, 32, 1),
    ],
)  # fmt: skip
def test_bank_conflicts(stride: int, width: int, banks: int, ways: int) -> None:
    """The ways of a bank conflict depend on the common factors of the stride and the number of banks."""
    assert conflict_ways(tuple(lane * stride for lane in range(64)), width, banks) == ways

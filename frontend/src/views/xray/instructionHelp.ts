/** Explain an instruction of CDNA in one sentence, from our own table. AMD's manual: "CDNA3 Instruction Set Architecture". */

interface Help {
  /** Matched against the whole mnemonic, without its encoding suffix. */
  pattern: RegExp;
  text: string;
}

/** The first match wins, so exceptions come before families. */
const TABLE: readonly Help[] = [
  { pattern: /^s_waitcnt/, text: "Waits until at most the given number of memory operations are outstanding: vmcnt counts global loads and stores, lgkmcnt LDS and scalar loads." },
  { pattern: /^s_barrier/, text: "Waits until every wave of the block has reached it: __syncthreads()." },
  { pattern: /^s_endpgm/, text: "Ends the wave." },
  { pattern: /^s_nop|^v_nop/, text: "Does nothing for the given number of cycles, until a result is available." },
  { pattern: /^s_branch/, text: "Jumps unconditionally." },
  { pattern: /^s_cbranch_execz/, text: "Jumps if no lane is active, so that an untaken branch costs nothing." },
  { pattern: /^s_cbranch_execnz/, text: "Jumps if any lane is active." },
  { pattern: /^s_cbranch_scc/, text: "Jumps depending on the scalar condition, which all lanes share." },
  { pattern: /^s_cbranch_vcc/, text: "Jumps depending on whether any lane has its bit of the vector condition set." },
  { pattern: /^s_(and|or|xor|andn2|orn2)_saveexec/, text: "Saves the mask of active lanes and changes it: the beginning of a divergent branch." },
  { pattern: /^s_load|^s_buffer_load/, text: "Loads scalar values that all lanes share, such as kernel arguments, through the scalar cache." },
  { pattern: /^s_sleep/, text: "Suspends the wave for a multiple of 64 cycles." },
  { pattern: /^s_set_gpr_idx|^s_setreg|^s_getreg/, text: "Reads or writes a hardware register." },
  { pattern: /^s_getpc|^s_setpc|^s_swappc/, text: "Reads or sets the program counter: a call or a return." },
  { pattern: /^s_cmp|^s_bitcmp/, text: "Compares two scalars and sets the scalar condition." },
  { pattern: /^s_mov|^s_cmov/, text: "Copies a scalar that all lanes share." },
  { pattern: /^s_(mul|add|sub|addc|subb|addk|mulk)/, text: "Scalar integer arithmetic, once per wave." },
  { pattern: /^s_(lshl|lshr|ashr|bfe|bfm|bfi)/, text: "Shifts or extracts bits of a scalar, once per wave." },
  { pattern: /^s_(and|or|xor|not|nand|nor|xnor|andn2|orn2)/, text: "Bitwise scalar operation, once per wave; often on a mask of lanes." },
  { pattern: /^s_/, text: "A scalar instruction: executed once per wave, for all lanes." },
  { pattern: /^v_mfma|^v_smfmac/, text: "Matrix multiply-add by the matrix core: the 64 lanes of a wave hold the tiles together. The name has the result type, M x N x K and the input type." },
  { pattern: /^v_accvgpr_read/, text: "Copies from an accumulation register (AGPR) to a vector register." },
  { pattern: /^v_accvgpr_write/, text: "Copies from a vector register to an accumulation register (AGPR)." },
  { pattern: /^v_pk_/, text: "Packed: works on two values per lane at once." },
  { pattern: /^v_(fma|fmac|mac|mad)_f|^v_fmamk|^v_fmaak/, text: "Fused multiply-add, one per lane: two floating-point operations." },
  { pattern: /^v_dot/, text: "Dot product of packed values, added to an accumulator." },
  { pattern: /^v_cmpx/, text: "Compares per lane and sets the mask of active lanes." },
  { pattern: /^v_cmp/, text: "Compares per lane; each lane sets its bit of a 64-bit mask." },
  { pattern: /^v_cndmask/, text: "Selects one of two values per lane: a branch without divergence." },
  { pattern: /^v_(rcp|rsq|sqrt|exp|log|sin|cos)/, text: "A transcendental function, at a quarter of the usual rate." },
  { pattern: /^v_div_/, text: "A step of an exactly rounded division; a division takes about ten instructions." },
  { pattern: /^v_cvt/, text: "Converts between number formats." },
  { pattern: /^v_readfirstlane|^v_readlane/, text: "Copies the value of one lane to a scalar register." },
  { pattern: /^v_writelane/, text: "Writes a scalar into one lane." },
  { pattern: /^v_mbcnt/, text: "Counts the active lanes below this one; used to compute the number of a lane." },
  { pattern: /^v_perm|^v_bfe|^v_bfi|^v_alignb/, text: "Extracts or permutes bits or bytes." },
  { pattern: /^v_mov/, text: "Copies a vector register; with a DPP suffix, from a neighboring lane." },
  { pattern: /^v_(add|sub|subrev|mul|min|max|med3|min3|max3|add3)_(f|legacy)/, text: "Floating-point arithmetic, one per lane." },
  { pattern: /^v_mul_(lo|hi)|^v_mad_u64/, text: "Integer multiplication, at a quarter of the usual rate for 32 bits." },
  { pattern: /^v_(add|sub|addc|subb|lshl_add|add_lshl|mad|mul|min|max|add3|sad)/, text: "Integer arithmetic, one per lane; often an address." },
  { pattern: /^v_(lshl|lshr|ashr|lshlrev|lshrrev|ashrrev)/, text: "Shifts bits, one value per lane." },
  { pattern: /^v_(and|or|xor|not|and_or|or3|lshl_or)/, text: "Bitwise operation, one per lane." },
  { pattern: /^v_/, text: "A vector instruction: one value per lane, 64 lanes per wave." },
  { pattern: /^global_load_dwordx4|^buffer_load_dwordx4|^flat_load_dwordx4/, text: "Loads 16 bytes per lane from memory: the widest load, which makes the best use of the bandwidth." },
  { pattern: /^global_load_lds|^buffer_load.*lds/, text: "Loads from memory directly into LDS." },
  { pattern: /^(global|buffer|flat)_load/, text: "Loads from memory, per lane. The load is complete after an s_waitcnt vmcnt." },
  { pattern: /^(global|buffer|flat)_store/, text: "Stores to memory, per lane." },
  { pattern: /^(global|buffer|flat)_atomic/, text: "An atomic operation in memory, performed in the L2 cache." },
  { pattern: /^buffer_(wbl2|inv)|^global_(wb|inv)/, text: "Writes back or invalidates caches, for memory ordering between agents." },
  { pattern: /^scratch_|^buffer_.*offen/, text: "Accesses scratch memory: a spilled register or an array that is indexed at run time. This is slow." },
  { pattern: /^ds_bpermute|^ds_permute|^ds_swizzle/, text: "Exchanges values between lanes through the LDS hardware, without using LDS memory: __shfl." },
  { pattern: /^ds_read|^ds_load/, text: "Reads from LDS (shared memory). Lanes that address the same bank take turns." },
  { pattern: /^ds_write|^ds_store/, text: "Writes to LDS (shared memory). Lanes that address the same bank take turns." },
  { pattern: /^ds_/, text: "An operation in LDS (shared memory), such as an atomic." },
];

/** The mnemonic of a line of assembly: its first word. */
export function mnemonic(text: string): string {
  return /^\s*([a-z][a-z0-9_]*)/.exec(text)?.[1] ?? "";
}

/** Explain the instruction of a line of assembly; null if the line has none or it is not in the table. */
export function instructionHelp(text: string): string | null {
  const name = mnemonic(text);
  return name === "" ? null : (TABLE.find(({ pattern }) => pattern.test(name))?.text ?? null);
}

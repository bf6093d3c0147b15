/** Occupancy of a compute unit: which wave slots of each SIMD are used by which block, and what limits it. */
import type { OccupancyResponse, OccupancyStepResponse, XrayKernelDetailResponse } from "../../lib/generated";

export const SIMDS = 4;
export const SLOTS = 8;
export const WAVE_LANES = 64;
/** Vector registers per lane of a SIMD, shared by all of its waves. */
export const SIMD_REGISTERS = 512;
/** Scalar registers available to a wave. */
export const SCALAR_REGISTERS = 102;

/** LDS per compute unit, by architecture. */
export function ldsBytes(arch: string): number {
  return (arch === "gfx950" ? 160 : 64) * 1024;
}

/** For each slot of each SIMD, the number of the block whose wave uses it, or null. Waves are assigned round-robin. */
export function slots(occupancy: OccupancyResponse): (number | null)[][] {
  const wavesPerBlock = Math.max(
    1,
    Math.round(occupancy.waves_per_cu / Math.max(1, occupancy.blocks_per_cu)),
  );
  return Array.from({ length: SIMDS }, (_, simd) =>
    Array.from({ length: SLOTS }, (_, slot) => {
      const wave = slot * SIMDS + simd;
      return wave < occupancy.waves_per_cu ? Math.floor(wave / wavesPerBlock) : null;
    }),
  );
}

export interface Resource {
  name: string;
  used: number;
  of: number;
  text: string;
  limits: boolean;
}

type KernelResources = Pick<XrayKernelDetailResponse, "vgpr_total" | "sgpr" | "lds_bytes" | "occupancy">;

/** How much of each resource all resident waves use. */
export function resources(kernel: KernelResources, arch: string): Resource[] {
  const { occupancy } = kernel;
  const allocated = Math.ceil(Math.max(kernel.vgpr_total, 1) / 8) * 8;
  const lds = ldsBytes(arch);
  const ldsUsed = kernel.lds_bytes * occupancy.blocks_per_cu;
  return [
    {
      name: "Vector registers",
      used: allocated * occupancy.waves_per_simd,
      of: SIMD_REGISTERS,
      text: `${allocated} per thread × ${occupancy.waves_per_simd} waves of ${SIMD_REGISTERS} per SIMD`,
      limits: occupancy.limited_by === "vector registers",
    },
    {
      name: "Scalar registers",
      used: kernel.sgpr,
      of: SCALAR_REGISTERS,
      text: `${kernel.sgpr} of ${SCALAR_REGISTERS} per wave`,
      limits: occupancy.limited_by === "scalar registers",
    },
    {
      name: "LDS",
      used: ldsUsed,
      of: lds,
      text: `${kib(kernel.lds_bytes)} per block × ${occupancy.blocks_per_cu} of ${kib(lds)}`,
      limits: occupancy.limited_by === "LDS",
    },
    {
      name: "Wave slots",
      used: occupancy.waves_per_cu,
      of: SIMDS * SLOTS,
      text: `${occupancy.waves_per_cu} of ${SIMDS * SLOTS} waves`,
      limits: occupancy.limited_by === "block size",
    },
  ];
}

/** Format a size of LDS: `8.1 KiB`. */
export function kib(bytes: number): string {
  if (bytes === 0) return "0";
  if (bytes < 1024) return `${bytes} B`;
  const value = bytes / 1024;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} KiB`;
}

/** `2 fewer vector registers (72 per thread): 6 → 7 waves per SIMD`. */
export function nextStepText(step: OccupancyStepResponse, wavesNow: number): string {
  const gain = `${wavesNow} → ${step.waves_per_simd} waves per SIMD`;
  if (step.resource === "LDS") return `${kib(step.change)} less LDS (${kib(step.reach)} per block): ${gain}`;
  if (step.resource === "block size") {
    const direction = step.change < 0 ? "smaller" : "larger";
    return `A ${direction} block (${step.reach} threads): ${gain}`;
  }
  return `${step.change} fewer ${step.resource} (${step.reach} per thread): ${gain}`;
}

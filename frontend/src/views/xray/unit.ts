/** The compute unit as it is drawn: which wave slots of which SIMD are filled, and by which block. */

export const SIMDS = 4;
export const SLOTS = 8;
export const WAVE_LANES = 64;
/** Vector registers that a lane of one SIMD has, for all of its waves. */
export const SIMD_REGISTERS = 512;
/** What a kernel may use of the scalar registers. */
export const SCALAR_REGISTERS = 102;

/** LDS of a compute unit, by architecture. */
export function ldsBytes(arch: string): number {
  return (arch === "gfx950" ? 160 : 64) * 1024;
}

export interface Occupancy {
  waves_per_simd: number;
  waves_per_cu: number;
  blocks_per_cu: number;
  limited_by: string;
}

/** For each SIMD its slots: the number of the block whose wave is in it, or null. Waves go round the SIMDs. */
export function slots(occupancy: Occupancy): (number | null)[][] {
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

interface Figures {
  vgpr_total: number;
  sgpr: number;
  lds_bytes: number;
  occupancy: Occupancy;
}

/** How much of each resource the resident waves take together. */
export function resources(kernel: Figures, arch: string): Resource[] {
  const { occupancy } = kernel;
  const granted = Math.ceil(Math.max(kernel.vgpr_total, 1) / 8) * 8;
  const lds = ldsBytes(arch);
  const ldsUsed = kernel.lds_bytes * occupancy.blocks_per_cu;
  return [
    {
      name: "Vector registers",
      used: granted * occupancy.waves_per_simd,
      of: SIMD_REGISTERS,
      text: `${granted} a thread × ${occupancy.waves_per_simd} waves of ${SIMD_REGISTERS} on a SIMD`,
      limits: occupancy.limited_by === "vector registers",
    },
    {
      name: "Scalar registers",
      used: kernel.sgpr,
      of: SCALAR_REGISTERS,
      text: `${kernel.sgpr} a wave of ${SCALAR_REGISTERS}`,
      limits: occupancy.limited_by === "scalar registers",
    },
    {
      name: "LDS",
      used: ldsUsed,
      of: lds,
      text: `${kib(kernel.lds_bytes)} a block × ${occupancy.blocks_per_cu} of ${kib(lds)}`,
      limits: occupancy.limited_by === "LDS",
    },
    {
      name: "Wave slots",
      used: occupancy.waves_per_cu,
      of: SIMDS * SLOTS,
      text: `${occupancy.waves_per_cu} waves of ${SIMDS * SLOTS}`,
      limits: occupancy.limited_by === "block size",
    },
  ];
}

/** Bytes as people read LDS: `8.1 KiB`. */
export function kib(bytes: number): string {
  if (bytes === 0) return "0";
  if (bytes < 1024) return `${bytes} B`;
  const value = bytes / 1024;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} KiB`;
}

export interface Step {
  resource: string;
  change: number;
  reach: number;
  waves_per_simd: number;
}

/** `2 fewer vector registers (72 a thread): 6 → 7 waves a SIMD`. */
export function stepInWords(step: Step, wavesNow: number): string {
  const gain = `${wavesNow} → ${step.waves_per_simd} waves a SIMD`;
  if (step.resource === "LDS") return `${kib(step.change)} less LDS (${kib(step.reach)} a block): ${gain}`;
  if (step.resource === "block size") {
    const direction = step.change < 0 ? "smaller" : "larger";
    return `A ${direction} block (${step.reach} threads): ${gain}`;
  }
  return `${step.change} fewer ${step.resource} (${step.reach} a thread): ${gain}`;
}

/** The editor's reference for HIP: our own table of functions, and the generated list of builtins. Loaded on first use. */

export type Kind = "function" | "type" | "variable" | "keyword";

/** A lane's part of a tile: its number, first row, first column, rows, columns. */
export type Box = readonly [lane: number, row: number, column: number, rows: number, columns: number];

export interface Tile {
  a: readonly Box[];
  b: readonly Box[];
  d: readonly Box[];
}

/** A dense matrix instruction. */
export interface MatrixForm {
  signature: string;
  m: number;
  n: number;
  k: number;
  blocks: number;
  a: string;
  b: string;
  /** Elements of A, and of B, per lane. */
  perLane: number;
  /** Elements of D per lane. */
  registers: number;
  flops: number;
  /** Cycles of a matrix core on gfx942. */
  cycles: number | null;
  tile: string;
}

export interface Entry {
  name: string;
  kind: Kind;
  signature: string;
  text: string;
  matrix?: MatrixForm;
  picture?: Tile;
}

export interface BuiltinData {
  name: string;
  group: string;
  fidelity: string;
  note: string;
  matrix?: MatrixForm;
}

/** Build the table by name. */
export function referenceOf(
  functions: readonly { name: string; kind: string; signature: string; text: string }[],
  builtins: readonly BuiltinData[],
  tiles: Readonly<Record<string, Tile>>,
): ReadonlyMap<string, Entry> {
  const entries: Entry[] = [
    ...functions.map((entry) => ({ ...entry, kind: entry.kind as Kind })),
    ...builtins.map((builtin) => builtinEntry(builtin, tiles)),
  ];
  return new Map(entries.map((entry) => [entry.name, entry]));
}

function builtinEntry({ name, group, fidelity, note, matrix }: BuiltinData, tiles: Readonly<Record<string, Tile>>): Entry {
  const onCpu = fidelity === "GPU only" ? `Only on a GPU${reason(note)}.` : `On the CPU runtime: ${fidelity}${reason(note)}.`;
  if (matrix === undefined) return { name, kind: "function", signature: name, text: `A builtin of AMD GPUs (${group}). ${onCpu}` };
  const picture = tiles[matrix.tile];
  return { name, kind: "function", signature: matrix.signature, text: `${matrixText(matrix)} ${vectorText(matrix.signature)}${onCpu}`, matrix, ...(picture ? { picture } : {}) };
}

function reason(note: string): string {
  return note === "" ? "" : ` (${note})`;
}

/** Explain a matrix instruction in a few sentences. */
export function matrixText({ m, n, k, blocks, a, b, perLane, registers, flops, cycles }: MatrixForm): string {
  const product = `tiles of ${m}×${k} and ${k}×${n}, ${a === b ? a : `${a} and ${b}`}`;
  const what = blocks === 1 ? `D = A·B + C for ${product}.` : `D = A·B + C for ${blocks} independent products of ${product}.`;
  const lanes = `Each of the 64 lanes has ${perLane} of A, ${perLane} of B and ${registers} of C and D.`;
  const rate = cycles === null ? "" : `, ${cycles} cycles of a matrix core on an MI300X`;
  return `${what} ${lanes} ${flops.toLocaleString("en-US")} FLOPs per wave${rate}.`;
}

const VECTOR_ELEMENTS: Readonly<Record<string, string>> = { Float16: "_Float16", Float32: "float", Float64: "double", Int16: "short", Int32: "int" };

/** Explain the names of vector types in a signature. */
function vectorText(signature: string): string {
  const names = [...new Set(signature.match(/\b(?:Float|Int)\d+x\d+\b/g) ?? [])];
  return names
    .map((name) => {
      const [element = "", size = ""] = name.split("x");
      return `${name} is ${VECTOR_ELEMENTS[element] ?? element} with ext_vector_type(${size}). `;
    })
    .join("");
}

/** The builtin of a matrix instruction in assembly: `v_mfma_f32_32x32x4_2b_f16` is `…mfma_f32_32x32x4f16`. */
export function matrixEntry(reference: ReadonlyMap<string, Entry>, mnemonic: string): Entry | null {
  if (!mnemonic.startsWith("v_mfma_")) return null;
  const wanted = compact(mnemonic.replace(/^v_/, "").replace(/_e64$/, "").replace(/_\d+b_/, "_"));
  for (const entry of reference.values()) {
    if (entry.matrix !== undefined && compact(entry.name.replace("__builtin_amdgcn_", "")) === wanted) return entry;
  }
  return null;
}

function compact(name: string): string {
  return name.replace(/_1k$/, "").replaceAll("_", "");
}

let loading: Promise<ReadonlyMap<string, Entry>> | undefined;

/** Load the table once. */
export function loadReference(): Promise<ReadonlyMap<string, Entry>> {
  loading ??= Promise.all([import("./hipFunctions.json"), import("./builtins.json")]).then(([functions, { default: data }]) =>
    referenceOf(functions.default, data.builtins as readonly BuiltinData[], data.tiles as unknown as Record<string, Tile>),
  );
  loading.catch(() => (loading = undefined)); // try again with the next key
  return loading;
}

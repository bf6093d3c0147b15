import { expect, it } from "vitest";
import builtins from "./builtins.json";
import functions from "./hipFunctions.json";
import { completions } from "./hipHelp";
import { matrixEntry, matrixText, referenceOf, type Tile } from "./hipReference";
import { cellPx } from "./tilePicture";

const tiles = builtins.tiles as unknown as Record<string, Tile>;
const reference = referenceOf(functions, builtins.builtins, tiles);
const labels = (word: string): string[] => completions(reference, word).map(({ label }) => label);

it("offers shuffles, half types and atomics", () => {
  expect(labels("__sh")).toEqual(expect.arrayContaining(["__shfl_xor", "__shfl_down", "__shared__"]));
  expect(labels("ato")).toContain("atomicAdd");
  expect(labels("__half")).toContain("__half2");
  expect(labels("__half")).not.toContain("__half"); // the name is already complete
});

it("offers builtins only after a part of their prefix", () => {
  const mfma = "__builtin_amdgcn_mfma_f32_32x32x8f16";
  expect(labels("__b")).toContain(mfma);
  expect(labels("mfma")).toContain(mfma);
  expect(labels("__sh")).not.toContain(mfma);
});

// The layout of an operand with scales depends on its format, so these have no picture.
const HAS_PICTURE = /_mfma_(?!scale_)/;

it("every dense matrix instruction has a picture whose boxes cover each element once", () => {
  const dense = [...reference.values()].filter(({ name }) => HAS_PICTURE.test(name));
  expect(dense.length).toBeGreaterThan(30);
  for (const { name, matrix, picture } of dense) {
    if (matrix === undefined || picture === undefined) throw new Error(`${name} has no picture`);
    const covered = (boxes: Tile["a"]): number => boxes.reduce((sum, [, , , rows, columns]) => sum + rows * columns, 0);
    expect(covered(picture.a), name).toBe(matrix.m * matrix.k);
    expect(covered(picture.b), name).toBe(matrix.k * matrix.n);
    expect(covered(picture.d), name).toBe(matrix.m * matrix.n);
    expect((matrix.m + matrix.k) * cellPx(matrix), name).toBeLessThan(420);
  }
});

it("explains a matrix instruction", () => {
  const matrix = reference.get("__builtin_amdgcn_mfma_f32_32x32x8f16")?.matrix;
  if (matrix === undefined) throw new Error("unknown");
  expect(matrixText(matrix)).toBe(
    "D = A·B + C for tiles of 32×8 and 8×32, f16. Each of the 64 lanes has 4 of A, 4 of B and 16 of C and D. 16,384 FLOPs per wave, 32 cycles of a matrix core on an MI300X.",
  );
});

it("no name is listed twice, and every text is a sentence", () => {
  expect(new Set(functions.map(({ name }) => name)).size).toBe(functions.length);
  for (const { name, kind, text } of functions) {
    expect(["function", "type", "variable", "keyword"], name).toContain(kind);
    expect(text, name).toMatch(/\.$/);
  }
});

it("finds the builtin of a matrix instruction in assembly", () => {
  const found = (mnemonic: string): string | undefined => matrixEntry(reference, mnemonic)?.name.replace("__builtin_amdgcn_mfma_", "");
  expect(found("v_mfma_f32_32x32x8_f16")).toBe("f32_32x32x8f16");
  expect(found("v_mfma_f32_16x16x16_bf16")).toBe("f32_16x16x16bf16_1k");
  expect(found("v_mfma_f32_32x32x4_2b_f16")).toBe("f32_32x32x4f16");
  expect(found("v_mfma_f32_32x32x16_fp8_bf8")).toBe("f32_32x32x16_fp8_bf8");
  expect(found("v_mfma_f64_16x16x4_f64_e64")).toBe("f64_16x16x4f64");
  expect(found("v_add_f32")).toBeUndefined();
});

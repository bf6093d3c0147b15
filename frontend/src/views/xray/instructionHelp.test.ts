import { expect, test } from "vitest";
import { lineColors } from "./lineColors";
import { instructionHelp, mnemonic } from "./instructionHelp";

test("the mnemonic is the first word", () => {
  expect(mnemonic("  v_fma_f32 v1, v2, v3, v4")).toBe("v_fma_f32");
  expect(mnemonic(".L3:")).toBe("");
});

test("exceptions come before their family", () => {
  expect(instructionHelp("global_load_dwordx4 v[0:3], v4, s[0:1]")).toContain("16 bytes");
  expect(instructionHelp("global_load_dword v0, v4, s[0:1]")).toContain("vmcnt");
  expect(instructionHelp("v_cmpx_gt_f32 v0, v1")).toContain("active lanes");
  expect(instructionHelp("v_fmac_f32_e32 v0, v1, v2")).toContain("multiply-add");
  expect(instructionHelp("v_mul_lo_u32 v0, v1, v2")).toContain("Integer");
  expect(instructionHelp("s_and_saveexec_b64 s[0:1], vcc")).toContain("divergent");
  expect(instructionHelp("unknown_thing")).toBeNull();
});

test("lines with instructions get colors in their order, and the same for all of their blocks", () => {
  const block = (line: number | null) => ({ line, depth: 0, label: null, instructions: ["s_nop 0"] });
  expect([...lineColors([block(9), block(null), block(4), block(9)])]).toEqual([[4, 0], [9, 1]]);
});

import { expect, test } from "vitest";
import type { XrayReportData } from "../xray/report";
import { kernelAt, statusText, xrayDiagnostics } from "./xrayStatus";

const occupancy = { waves_per_simd: 6, waves_per_cu: 24, blocks_per_cu: 6, limited_by: "vector registers" };
type Kernel = XrayReportData["kernels"][number];
const kernel = (name: string, line: number | null): Kernel =>
  ({ name, symbol: name, line, vgpr_total: 34, spills: 0, occupancy }) as unknown as Kernel;
const report = (change: Partial<XrayReportData>): XrayReportData => ({
  arch: "gfx942",
  gpu: "MI300X",
  compiler: "clang",
  kernels: [],
  findings: [],
  seconds: 0.4,
  notes: [],
  failure: null,
  roofline: null,
  ...change,
});

test("the status line has registers, waves and spills of the kernel at the cursor", () => {
  expect(statusText(report({ kernels: [kernel("a", 3)] }), 1)).toBe("34 VGPR · 6 of 8 waves · 0 spills");
  const two = report({ kernels: [kernel("b", 20), kernel("a", 3)] });
  expect(statusText(two, 25)).toMatch(/^b: 34 VGPR/);
  expect(kernelAt(two.kernels, 19)?.name).toBe("a");
  expect(statusText(report({}), 1)).toBe("No kernel");
});

test("errors are counted and marked with their column; notes are not", () => {
  const diagnostics = [
    { line: 4, column: 9, severity: "error", message: "expected ';'", source_line: "" },
    { line: 4, column: 1, severity: "note", message: "to match this", source_line: "" },
  ];
  const failed = report({ failure: { code: "COMPILE_ERROR", message: "", hint: "", diagnostics } });
  expect(statusText(failed, 1)).toBe("1 error");
  expect(xrayDiagnostics(failed)).toEqual([{ line: 4, column: 9, severity: "error", message: "expected ';'" }]);
});

test("a finding is a warning on its line", () => {
  const finding = { rule: "narrow-loads", kernel: "a", line: 7, message: "Loads are narrow.", advice: "Use float4." };
  expect(xrayDiagnostics(report({ findings: [finding] }))).toEqual([
    { line: 7, column: null, severity: "warning", message: "Loads are narrow. Use float4." },
  ]);
});

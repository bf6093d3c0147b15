/** The status line below the editor, and the marks on its lines, from an X-ray. */
import { plural } from "../../lib/format";
import type { XrayReportData } from "../xray/report";
import { SLOTS } from "../xray/occupancy";
import type { LineDiagnostic } from "./lineDiagnostics";

type Kernel = XrayReportData["kernels"][number];

/** The kernel that contains a line: the last one that begins at or before it; otherwise the first. */
export function kernelAt(kernels: readonly Kernel[], line: number): Kernel | undefined {
  const before = kernels.filter((kernel) => kernel.line !== null && kernel.line <= line);
  return before.sort((a, b) => (b.line ?? 0) - (a.line ?? 0))[0] ?? kernels[0];
}

/** `34 VGPR · 6 of 8 waves · 0 spills`, of the kernel at the cursor. */
export function statusText(report: XrayReportData, line: number): string {
  const errors = report.failure?.diagnostics.filter(({ severity }) => severity === "error").length ?? 0;
  if (errors > 0) return plural(errors, "error");
  if (report.failure !== null) return report.failure.code === "COMPILE_TIME_LIMIT" ? "Compiling takes too long" : "Does not compile";
  const kernel = kernelAt(report.kernels, line);
  if (kernel === undefined) return "No kernel";
  const figures = [
    `${kernel.vgpr_total} VGPR`,
    `${kernel.occupancy.waves_per_simd} of ${SLOTS} waves`,
    plural(kernel.spills, "spill"),
  ].join(" · ");
  return report.kernels.length > 1 ? `${kernel.name}: ${figures}` : figures;
}

/** Messages of the compiler and findings of the X-ray, by line. */
export function xrayDiagnostics(report: XrayReportData): LineDiagnostic[] {
  const errors = (report.failure?.diagnostics ?? []).flatMap<LineDiagnostic>(({ line, column, severity, message }) =>
    line > 0 && severity === "error" ? [{ line, column: column > 0 ? column : null, severity: "error", message }] : [],
  );
  const findings = report.findings.flatMap<LineDiagnostic>(({ line, message, advice }) =>
    line === null ? [] : [{ line, column: null, severity: "warning", message: `${message} ${advice}`.trim() }],
  );
  return [...errors, ...findings];
}

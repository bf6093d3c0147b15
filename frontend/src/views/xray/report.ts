/** Request X-rays, as explained in docs/xray.md. */
import { post } from "../../lib/api";
import type { Dtype, XrayEvent, XrayReportResponse, XrayRequest } from "../../lib/generated";

/** The part of an X-ray that the page shows; the XRAY event of a submission has fewer fields than a full response. */
export type XrayReportData = Omit<XrayReportResponse, "compiles">;

interface RequestOptions {
  assembly?: boolean;
  signal?: AbortSignal;
}

/** Request the X-ray of a source, for a problem or for none; by default with the assembly. Nothing is executed, stored or billed. */
export function requestXray(
  source: string,
  problem: string | null,
  dtype: Dtype | null,
  { assembly = true, signal }: RequestOptions = {},
): Promise<XrayReportResponse> {
  return post("/xray", { solution_code: source, problem, dtype, isa: assembly } satisfies XrayRequest, {}, signal);
}

/** Convert the XRAY event of a submission to a report; it has no assembly and no roofline. */
export function fromEvent(event: XrayEvent): XrayReportData {
  const { arch, gpu, compiler, kernels, findings, seconds = 0, notes = [], message = "" } = event;
  const failure = message === "" ? null : { code: "COMPILE_ERROR", message, hint: "", diagnostics: [] };
  return { arch, gpu, compiler, kernels, findings, seconds, notes, failure, roofline: null };
}

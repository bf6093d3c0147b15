/** One kernel: occupancy, registers and memory, instruction mix and loops. */
import { bytes, count, plural } from "../../lib/format";
import type { XrayKernelDetailResponse } from "../../lib/generated";
import { ComputeUnit } from "./ComputeUnit";
import { LineLink } from "./LineLink";
import { mix } from "./mapping";
import { nextStepText, resources, SLOTS } from "./occupancy";

interface Props {
  kernel: XrayKernelDetailResponse;
  arch: string;
  onLine: (line: number) => void;
}

export function KernelDetails({ kernel, arch, onLine }: Props): React.JSX.Element {
  return (
    <div className="xray-grid">
      <OccupancyCard kernel={kernel} arch={arch} />
      <Resources kernel={kernel} />
      <div className="stack">
        <MixCard kernel={kernel} />
        <Loops kernel={kernel} onLine={onLine} />
      </div>
    </div>
  );
}

function OccupancyCard({ kernel, arch }: { kernel: XrayKernelDetailResponse; arch: string }): React.JSX.Element {
  const { occupancy } = kernel;
  return (
    <section className="card stack" aria-label="Occupancy">
      <h3>
        Occupancy: {occupancy.waves_per_simd} of {SLOTS} waves per SIMD
      </h3>
      <ComputeUnit occupancy={occupancy} />
      <p className="small">
        {occupancy.limited_by === "nothing" ? (
          "All slots can be used."
        ) : (
          <>
            Limited by <strong>{occupancy.limited_by}</strong>.
          </>
        )}{" "}
        <span className="dim">
          {plural(occupancy.blocks_per_cu, "block")} of {blockText(kernel)} per compute unit. Slots show the block
          number.
        </span>
      </p>
      <div className="xray-meters">
        {resources(kernel, arch).map((resource) => (
          <div key={resource.name} className={resource.limits ? "xray-meter xray-limits" : "xray-meter"}>
            <span>{resource.name}</span>
            <span className="dim">{resource.text}</span>
            <svg width="100%" height="6" aria-hidden="true">
              <rect className="chart-track" width="100%" height="6" rx="3" />
              <rect
                className="xray-meter-fill"
                width={`${Math.min(100, (100 * resource.used) / resource.of)}%`}
                height="6"
                rx="3"
              />
            </svg>
          </div>
        ))}
      </div>
      {kernel.next_steps.length > 0 && (
        <ul className="small">
          {kernel.next_steps.map((step) => (
            <li key={step.resource}>{nextStepText(step, occupancy.waves_per_simd)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function blockText(kernel: XrayKernelDetailResponse): string {
  if (kernel.block === null) return "the best size";
  return `${count(kernel.block.reduce((product, size) => product * size, 1))} threads`;
}

function Resources({ kernel }: { kernel: XrayKernelDetailResponse }): React.JSX.Element {
  const facts: [string, string, boolean][] = [
    ["Vector registers", `${kernel.vgpr} per thread`, false],
    ["Accumulators (AGPR)", `${kernel.agpr} per thread`, false],
    ["Scalar registers", `${kernel.sgpr} per wave`, false],
    ["LDS", `${bytes(kernel.lds_bytes)} per block`, false],
    ["Scratch", `${bytes(kernel.scratch_bytes)} per thread`, kernel.scratch_bytes > 0],
    ["Spilled registers", String(kernel.spills), kernel.spills > 0],
    ["Block", kernel.block === null ? "unknown" : `${kernel.block.join(" × ")} threads`, false],
    [
      "Launch bounds",
      kernel.launch_bound_threads === null ? "none" : `${kernel.launch_bound_threads} threads`,
      false,
    ],
    ["Code size", bytes(kernel.code_bytes), false],
    ["Global loads", widths(kernel.load_widths), false],
    ["Global stores", widths(kernel.store_widths), false],
    ["Matrix cores", matrixText(kernel), false],
  ];
  return (
    <section className="card stack" aria-label="Registers and memory">
      <h3>Registers and memory</h3>
      <dl className="xray-facts">
        {facts.map(([name, value, bad]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={bad ? "xray-bad" : ""}>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The matrix instructions of the hot loop: `16 × v_mfma_f32_32x32x8_f16 (32 cycles, 98% of FLOPs)`. */
function matrixText({ matrix }: XrayKernelDetailResponse): string {
  if (!matrix) return "not used";
  const forms = matrix.forms.map(({ form, instructions, cycles, share }) => {
    const time = cycles === null ? "" : `${cycles} cycles, `;
    return `${instructions} × ${form} (${time}${Math.round(100 * share)}% of FLOPs)`;
  });
  return `${forms.join(", ")}; ${plural(matrix.accumulators, "independent sum")}`;
}

/** `2 × 4 bytes`: number of accesses by width. */
function widths(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(
    ([width, number]) => `${number} × ${width} ${width === "1" ? "byte" : "bytes"}`,
  );
  return parts.length === 0 ? "none" : parts.join(", ");
}

function MixCard({ kernel }: { kernel: XrayKernelDetailResponse }): React.JSX.Element {
  const kinds = mix(kernel.instructions);
  const maxCount = kinds[0]?.count ?? 1;
  const total = kinds.reduce((sum, kind) => sum + kind.count, 0);
  return (
    <section className="card stack" aria-label="Instruction mix">
      <h3>{plural(total, "instruction")}</h3>
      <div className="xray-mix">
        {kinds.map(({ kind, count: number }) => (
          <div key={kind} className="xray-mix-row">
            <span>{kind}</span>
            <svg width="100%" height="10" aria-hidden="true">
              <rect
                className={`xray-mix-fill ${tone(kind)}`}
                width={`${(100 * number) / maxCount}%`}
                height="10"
                rx="2"
              />
            </svg>
            <span className="number">{count(number)}</span>
          </div>
        ))}
      </div>
      <p className="dim small">Static counts, not execution counts.</p>
    </section>
  );
}

function tone(kind: string): string {
  if (kind.startsWith("global") || kind === "scratch" || kind === "scalar load") return "xray-mix-memory";
  if (kind.startsWith("LDS") || kind === "shuffle") return "xray-mix-lds";
  if (kind === "wait" || kind === "barrier") return "xray-mix-wait";
  return "xray-mix-compute";
}

function Loops({ kernel, onLine }: { kernel: XrayKernelDetailResponse; onLine: (line: number) => void }): React.JSX.Element {
  return (
    <section className="card stack" aria-label="Loops">
      <h3>Loops after optimization</h3>
      {kernel.loops.length === 0 ? (
        <p className="dim small">None. The kernel has no loops, or all were unrolled.</p>
      ) : (
        <ul className="plain-list xray-loops">
          {kernel.loops.map((loop, index) => (
            <li key={index} className={`loop-depth-${Math.min(loop.depth, 4)}`}>
              <LineLink line={loop.line} onLine={onLine} /> {plural(loop.instructions, "instruction")}
              <span className="dim small">
                {" "}
                {mix(loop.counts)
                  .slice(0, 4)
                  .map((entry) => `${entry.count} ${entry.kind}`)
                  .join(", ")}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** A diagram of a compute unit: four SIMDs with eight wave slots each; adjacent blocks differ in color. */
import type { OccupancyResponse } from "../../lib/generated";
import { SIMDS, SLOTS, slots } from "./occupancy";

const CELL = 30;
const GAP = 4;
const LEFT = 64;

export function ComputeUnit({ occupancy }: { occupancy: OccupancyResponse }) {
  const height = SIMDS * (CELL + GAP);
  const width = LEFT + SLOTS * (CELL + GAP);
  const summary = `One compute unit runs ${occupancy.waves_per_cu} of ${SIMDS * SLOTS} waves, in ${occupancy.blocks_per_cu} blocks`;
  return (
    <svg className="compute-unit" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary}>
      {slots(occupancy).map((simd, row) => (
        <g key={row} transform={`translate(0 ${row * (CELL + GAP)})`}>
          <text className="chart-text" x="0" y={CELL / 2 + 4}>
            SIMD {row}
          </text>
          {simd.map((block, column) => (
            <g
              key={column}
              className={slotClass(block)}
              transform={`translate(${LEFT + column * (CELL + GAP)} 0)`}
            >
              <rect width={CELL} height={CELL} rx="3" />
              {block !== null && (
                <text x={CELL / 2} y={CELL / 2 + 4} textAnchor="middle">
                  {block + 1}
                </text>
              )}
            </g>
          ))}
        </g>
      ))}
    </svg>
  );
}

function slotClass(block: number | null): string {
  if (block === null) return "xray-slot xray-slot-empty";
  return block % 2 === 0 ? "xray-slot xray-slot-even" : "xray-slot xray-slot-odd";
}

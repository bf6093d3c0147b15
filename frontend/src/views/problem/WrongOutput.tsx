/** A wrong output: a map of its errors, and the first differences with the inputs they were computed from. */
import { cell } from "../../lib/format";
import type { DebugInfo, FailedCaseResponse } from "../../lib/generated";
import { HeatMap } from "../../components/charts/HeatMap";
import { inline } from "../../components/Markdown";

export function WrongOutput({ info, name }: { info: DebugInfo; name: string }): React.JSX.Element {
  return (
    <div className="wrong-output">
      {info.grid !== null && <HeatMap grid={info.grid} name={name} />}
      <div>
        <p className="small dim">
          First differences. Largest difference {cell(info.max_difference)}, mean {cell(info.mean_difference)}.
        </p>
        <Differences info={info} />
        <Inputs info={info} />
      </div>
    </div>
  );
}

/** The beginning of every input that is not beside the differences. */
function Inputs({ info }: { info: DebugInfo }): React.JSX.Element | null {
  const beside = info.sample_differences[0]?.inputs ?? {};
  const others = (info.inputs ?? []).filter(({ name }) => !(name in beside));
  if (others.length === 0) return null;
  return (
    <dl className="case-inputs small" aria-label="Inputs">
      {others.map(({ name, shape, values }) => (
        <div key={name}>
          <dt>
            <code>{name}</code> <span className="dim">{shape.map(String).join(" × ")}</span>
          </dt>
          <dd>
            {values.map(cell).join(", ")}
            {values.length < shape.reduce((product, extent) => product * extent, 1) && ", …"}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Differences({ info }: { info: DebugInfo }): React.JSX.Element {
  const names = Object.keys(info.sample_differences[0]?.inputs ?? {});
  return (
    <div className="scroll" role="region" aria-label="First differences" tabIndex={0}>
      <table className="differences">
        <thead>
          <tr>
            <th>Index</th>
            {names.map((name) => (
              <th className="number" key={name}>
                <code>{name}</code>
              </th>
            ))}
            <th className="number">Expected</th>
            <th className="number">Actual</th>
            <th className="number difference">Difference</th>
          </tr>
        </thead>
        <tbody>
          {info.sample_differences.map(({ index, expected, actual, difference, inputs = {} }) => (
            <tr key={index.join()}>
              <td>
                <code>{index.map((position) => `[${position}]`).join("")}</code>
              </td>
              {names.map((name) => (
                <td className="number" key={name}>
                  {cell(inputs[name] ?? "")}
                </td>
              ))}
              <td className="number">{cell(expected)}</td>
              <td className="number">{cell(actual)}</td>
              <td className="number difference">{cell(difference)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The cases that failed after the first one, in a check of all cases. */
export function OtherFailedCases({ cases, total }: { cases: readonly FailedCaseResponse[]; total: number }): React.JSX.Element | null {
  const [first, ...others] = cases;
  if (first === undefined) return null;
  return (
    <section className="stack failed-cases" aria-label="Failed cases">
      <h3>
        {cases.length} of {total} cases failed
      </h3>
      {others.map(({ test_id: id, message, debug_info: info = null, output_name: name = "output" }) => (
        <details key={id}>
          <summary>{inline(message)}</summary>
          {info !== null && <WrongOutput info={info} name={name} />}
        </details>
      ))}
    </section>
  );
}

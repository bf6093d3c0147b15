/** The cases of a problem, and a form for cases of the author's own. */
import { useState } from "react";
import type { Dtype, OwnCase, ProblemDetailResponse } from "../../lib/generated";
import { allowedText, caseName, MAX_OWN_CASES, readForm } from "./ownCases";

interface Props {
  problem: ProblemDetailResponse;
  dtype: Dtype;
  cases: readonly OwnCase[];
  onChange: (cases: OwnCase[]) => void;
  busy: boolean;
  onRunAll: () => void;
  /** Whether Run continues after a wrong answer. */
  allCases: boolean;
  onAllCases: (wanted: boolean) => void;
}

export default function CasesPanel({ problem, dtype, cases, onChange, busy, onRunAll, allCases, onAllCases }: Props): React.JSX.Element {
  return (
    <div className="stack cases-panel">
      <div className="row">
        <button className="button" disabled={busy} onClick={onRunAll}>
          Run all cases
        </button>
        <label className="row check small">
          <input type="checkbox" checked={allCases} onChange={(event) => onAllCases(event.target.checked)} />
          Run always checks all cases
        </label>
      </div>
      <p className="dim small">Otherwise a run ends with the first wrong answer. A fault or a time limit ends every run.</p>
      <section className="stack" aria-labelledby="own-cases-title">
        <h2 id="own-cases-title">Your own cases</h2>
        <p className="dim small">
          Run checks them first. Benchmark and Submit do not use them, and they never count for the leaderboard.
        </p>
        {cases.length > 0 && (
          <ul className="own-cases" aria-label="Your own cases">
            {cases.map((ownCase) => (
              <li className="row" key={caseName(ownCase)}>
                <span className="badge info">own</span>
                <span className="grow">{caseName(ownCase)}</span>
                <button
                  className="button small"
                  aria-label={`Remove ${caseName(ownCase)}`}
                  onClick={() => onChange(cases.filter((other) => other !== ownCase))}
                >
                  Remove
                </button>
              </li>
            ))}
          </ul>
        )}
        {problem.case_parameters.length === 0 ? (
          <p className="note">This problem has no ranges of sizes, so you cannot add your own cases.</p>
        ) : (
          <CaseForm problem={problem} dtype={dtype} cases={cases} onAdd={(ownCase) => onChange([...cases, ownCase])} />
        )}
      </section>
      <section aria-labelledby="published-cases-title">
        <h2 id="published-cases-title">Published cases</h2>
        <ol className="published-cases small">
          {(problem.cases[problem.scale] ?? []).map((name) => (
            <li key={name}>{name}</li>
          ))}
        </ol>
        <p className="dim small">A run also has hidden cases, whose sizes are shown only if one fails.</p>
      </section>
    </div>
  );
}

interface FormProps {
  problem: ProblemDetailResponse;
  dtype: Dtype;
  cases: readonly OwnCase[];
  onAdd: (ownCase: OwnCase) => void;
}

function CaseForm({ problem, dtype, cases, onAdd }: FormProps): React.JSX.Element {
  const { case_parameters: parameters } = problem;
  const styles = problem.styles[dtype] ?? [];
  const [fields, setFields] = useState<Record<string, string>>({});
  const [style, setStyle] = useState(styles[0] ?? "");
  const [errors, setErrors] = useState<Record<string, string>>({});
  const isFull = cases.length >= MAX_OWN_CASES;
  const add = (event: React.SubmitEvent): void => {
    event.preventDefault();
    const form = readForm(parameters, fields, style);
    if (form.ownCase === null) {
      setErrors(form.errors);
      return;
    }
    const name = caseName(form.ownCase);
    if (cases.some((other) => caseName(other) === name)) setErrors({ "": "This case is already in the list." });
    else {
      setErrors({});
      onAdd(form.ownCase);
    }
  };
  return (
    <form className="case-form" aria-label="New case" noValidate onSubmit={add}>
      {parameters.map((parameter) => {
        const error = errors[parameter.name];
        const hintId = `case-${parameter.name}`;
        return (
          <label className="case-field" key={parameter.name}>
            <code>{parameter.name}</code>
            <input
              value={fields[parameter.name] ?? ""}
              inputMode={parameter.kind === "size" ? "numeric" : "text"}
              autoComplete="off"
              aria-invalid={error !== undefined}
              aria-describedby={hintId}
              onChange={(event) => setFields({ ...fields, [parameter.name]: event.target.value })}
            />
            <span id={hintId} className={`small ${error === undefined ? "dim" : "field-error"}`} role={error === undefined ? undefined : "alert"}>
              {error ?? allowedText(parameter)}
            </span>
          </label>
        );
      })}
      <label className="case-field">
        <span>Style of the inputs</span>
        <select value={style} onChange={(event) => setStyle(event.target.value)}>
          {styles.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {errors[""] !== undefined && (
        <p className="field-error small" role="alert">
          {errors[""]}
        </p>
      )}
      <button className="button" disabled={isFull} title={isFull ? `At most ${MAX_OWN_CASES} cases` : ""}>
        Add case
      </button>
    </form>
  );
}

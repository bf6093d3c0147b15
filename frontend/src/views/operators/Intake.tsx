/** Whether submissions are accepted and run, with a switch. */
import { useState } from "react";
import { ConfirmDialog, errorText } from "../../components/ConfirmDialog";
import { dateTime } from "../../lib/format";
import type { IntakeMode, IntakeResponse } from "../../lib/generated";
import { pauseIntake, resumeIntake } from "./requests";

const TEXTS: Record<IntakeMode, string> = {
  open: "Submissions are accepted and run.",
  queue: "Paused: submissions are accepted and wait in the queue.",
  refuse: "Paused: new submissions are refused.",
};

export function Intake({ intake, onChange }: { intake: IntakeResponse; onChange: () => void }): React.JSX.Element {
  const [pausing, setPausing] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const resume = async (): Promise<void> => {
    setFailure(null);
    try {
      await resumeIntake();
      onChange();
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  const paused = intake.mode !== "open";
  return (
    <section className={`card row operators-intake ${paused ? "paused" : ""}`} aria-labelledby="intake-title">
      <div className="grow">
        <h2 id="intake-title">Intake</h2>
        <p className="operators-line">{TEXTS[intake.mode]}</p>
        {paused && (
          <p className="small dim operators-line">
            {intake.reason} Paused by {intake.by}, {dateTime(intake.since)}.
          </p>
        )}
        {failure !== null && (
          <p className="small operators-line" role="alert">
            {failure}
          </p>
        )}
      </div>
      {paused ? (
        <button className="button primary" onClick={resume}>
          Resume intake
        </button>
      ) : (
        <button className="button" onClick={() => setPausing(true)}>
          Pause intake…
        </button>
      )}
      {pausing && <PauseDialog onDone={onChange} onClose={() => setPausing(false)} />}
    </section>
  );
}

function PauseDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }): React.JSX.Element {
  const [mode, setMode] = useState("queue");
  const [reason, setReason] = useState("");
  return (
    <ConfirmDialog
      title="Pause the intake?"
      confirm="Pause intake"
      ready={reason.trim() !== ""}
      onConfirm={async () => {
        await pauseIntake(mode, reason.trim());
        onDone();
      }}
      onClose={onClose}
    >
      <fieldset className="stack">
        <legend>New submissions</legend>
        <label className="row">
          <input type="radio" name="mode" value="queue" checked={mode === "queue"} onChange={() => setMode("queue")} />
          Wait in the queue
        </label>
        <label className="row">
          <input type="radio" name="mode" value="refuse" checked={mode === "refuse"} onChange={() => setMode("refuse")} />
          Are refused
        </label>
      </fieldset>
      <label className="stack">
        <span>Reason, shown to authors</span>
        <input value={reason} maxLength={300} required onChange={(event) => setReason(event.target.value)} />
      </label>
      <p className="small dim">
        {mode === "queue"
          ? "No new VM is provisioned, and idle VMs are released: only running submissions cost money until you resume."
          : "Submissions that were accepted before are run, and cost what they were quoted. New ones cost nothing."}
      </p>
    </ConfirmDialog>
  );
}

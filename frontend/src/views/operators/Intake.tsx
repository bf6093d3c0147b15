/** Whether submissions are accepted and run, with a switch. */
import { useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { dateTime } from "../../lib/format";
import type { IntakeMode, IntakeResponse } from "../../lib/generated";
import { Effect } from "./Effect";
import { intakeActions, pauseIntake, resumeIntake } from "./requests";

const TEXTS: Record<IntakeMode, string> = {
  open: "Submissions are accepted and run.",
  queue: "Paused: submissions are accepted and wait in the queue.",
  refuse: "Paused: new submissions are refused.",
};

export function Intake({ intake, onChange }: { intake: IntakeResponse; onChange: () => void }): React.JSX.Element {
  const [asking, setAsking] = useState(false);
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
      </div>
      {paused ? (
        <button className="button primary" onClick={() => setAsking(true)}>
          Resume intake…
        </button>
      ) : (
        <button className="button" onClick={() => setAsking(true)}>
          Pause intake…
        </button>
      )}
      {asking && !paused && <PauseDialog onDone={onChange} onClose={() => setAsking(false)} />}
      {asking && paused && <ResumeDialog onDone={onChange} onClose={() => setAsking(false)} />}
    </section>
  );
}

function ResumeDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }): React.JSX.Element {
  return (
    <ConfirmDialog
      title="Resume the intake?"
      confirm="Resume intake"
      onConfirm={async () => {
        await resumeIntake();
        onDone();
      }}
      onClose={onClose}
    >
      <Effect action="intake.resume" name="resume" effects={() => intakeActions("queue")} />
    </ConfirmDialog>
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
      <Effect action="intake.pause" name={mode} effects={() => intakeActions(mode)} />
    </ConfirmDialog>
  );
}

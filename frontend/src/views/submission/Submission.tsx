/** One submission: its verdict, every figure, the whole story, the X-ray and the code. Live while it runs. */
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { cancel, code, gpus, submission } from "../../lib/api";
import { words } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import type { Story } from "../../lib/story";
import type { SubmissionDetail } from "../../lib/types";
import { Badge } from "../../parts/Badge";
import { Failure } from "../../parts/Helping";
import { Tabs, panelProps } from "../../parts/Tabs";
import { fromEvent } from "../xray/report";
import Xray from "../xray/Xray";
import { Actions } from "./Actions";
import { Facts } from "./Facts";
import { Listing } from "./Listing";
import { Results } from "./Results";
import { StoryLines } from "./StoryLines";
import { useEvents } from "./useEvents";
import "./submission.css";

const TABS = [
  { id: "results", name: "Results" },
  { id: "story", name: "Story" },
  { id: "xray", name: "X-ray" },
  { id: "code", name: "Code" },
];

export default function Submission({ id }: { id: string }): React.JSX.Element {
  const record = useQuery(id, () => submission(id));
  const { events, story, cuts } = useEvents(id, record.data?.endpoint ?? null);
  // The record was asked for while it ran: what it lacks comes with the verdict.
  const ended = useQuery(`${id} ended ${story.ending !== null}`, () => submission(id));
  const each = ended.data ?? record.data;
  useTitle(each === null ? "Submission" : `${stateOf(each, story)}: ${each.problem}`);
  if (record.error !== null) return <Failure error={record.error} onRetry={record.again} />;
  if (each === null) return <p className="dim">Loading…</p>;
  return (
    <div className="stack">
      <Head each={each} story={story} />
      {cuts > 1 && <p className="note warn">The stream was cut; connecting again. Nothing is lost.</p>}
      <Facts each={each} story={story} />
      <Actions each={each} events={events} />
      <Panels each={each} story={story} events={events} />
    </div>
  );
}

function stateOf(each: SubmissionDetail, story: Story): string {
  return words(each.verdict ?? story.ending?.status ?? "RUNNING");
}

function Head({ each, story }: { each: SubmissionDetail; story: Story }): React.JSX.Element {
  const [stopping, setStopping] = useState(false);
  const isOver = each.verdict !== null || story.ending !== null;
  const stop = async (): Promise<void> => {
    setStopping(true);
    // A verdict that came first is no failure: the stream has it.
    await cancel(each.id).catch(() => undefined);
    setStopping(false);
  };
  return (
    <div className="row">
      <h1>{each.problem}</h1>
      <Badge status={each.verdict ?? story.ending?.status ?? "RUNNING"} />
      {each.simulated && <span className="badge">CPU simulator</span>}
      <span className="grow" />
      <Link className="button" href={`/problems/${each.problem}`}>
        Open the problem
      </Link>
      {!isOver && (
        <button className="button danger" disabled={stopping} onClick={() => void stop()}>
          {stopping ? "Stopping…" : "Cancel"}
        </button>
      )}
    </div>
  );
}

interface PanelsProps {
  each: SubmissionDetail;
  story: Story;
  events: Parameters<typeof StoryLines>[0]["events"];
}

function Panels({ each, story, events }: PanelsProps): React.JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [line, setLine] = useState<number | null>(null);
  const source = useQuery(`code ${each.id}`, () => code(each.id));
  const catalogue = useQuery("gpus", gpus);
  const asked = search.get("tab") ?? "results";
  const current = TABS.some((tab) => tab.id === asked) ? asked : "results";
  const open = (tab: string): void => setSearch(tab === "results" ? {} : { tab }, { replace: true });
  const show = (to: number): void => {
    setLine(to);
    open("code");
  };
  const text = source.data?.solution_code ?? "";
  return (
    <>
      <Tabs label="Parts of this submission" tabs={TABS} current={current} onChange={open} />
      <div {...panelProps(current)} className="stack panel">
        {current === "results" && (
          <Results
            each={each}
            story={story}
            gpu={catalogue.data?.items.find((gpu) => gpu.name === each.gpu_type)}
            onLine={show}
          />
        )}
        {current === "story" && <StoryLines events={events} isOver={story.ending !== null} />}
        {current === "xray" && (
          <Xray
            source={text}
            problem={each.problem}
            dtype={each.dtype}
            known={story.xray === null ? null : fromEvent(story.xray)}
            onLine={show}
            leaves
          />
        )}
        {current === "code" &&
          (source.data === null ? (
            <p className="dim">Loading…</p>
          ) : (
            <Listing text={text} name={each.file_name} line={line} />
          ))}
      </div>
    </>
  );
}

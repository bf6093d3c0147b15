/** A submission's story in a component: follows the stream, survives cuts, and draws at most once a frame. */
import { useEffect, useReducer } from "react";
import type { Refused } from "./api";
import { begin, isLast, tell, type Story } from "./story";
import { follow } from "./stream";
import type { Endpoint, StreamEvent } from "./types";

export interface Told {
  story: Story;
  /** How often in a row the line was cut; 0 while it holds. */
  cuts: number;
  refused: Refused | null;
}

type Step =
  | { kind: "begin"; endpoint: Endpoint }
  | { kind: "events"; events: StreamEvent[] }
  | { kind: "cut"; times: number }
  | { kind: "refused"; error: Refused };

function initial(endpoint: Endpoint): Told {
  return { story: begin(endpoint), cuts: 0, refused: null };
}

function reduce(told: Told, step: Step): Told {
  switch (step.kind) {
    case "begin":
      return initial(step.endpoint);
    case "events":
      return { ...told, story: tell(told.story, step.events) };
    case "cut":
      return { ...told, cuts: step.times };
    case "refused":
      return { ...told, refused: step.error };
  }
}

/** Without an id there is nothing to follow, and the story is empty. */
export function useStory(id: string | null, endpoint: Endpoint): Told {
  const [told, dispatch] = useReducer(reduce, endpoint, initial);
  useEffect(() => {
    dispatch({ kind: "begin", endpoint });
    if (id === null) return undefined;
    let waiting: StreamEvent[] = [];
    let frame = 0;
    const flush = (): void => {
      frame = 0;
      const events = waiting;
      waiting = [];
      dispatch({ kind: "events", events });
    };
    const stop = follow(id, 0, (event) => isLast(endpoint, event), {
      onEvents: (events) => {
        waiting.push(...events);
        // A tab in the background gets no frames, and its title must still tell.
        if (document.hidden) flush();
        else frame ||= requestAnimationFrame(flush);
      },
      onCut: (times) => dispatch({ kind: "cut", times }),
      onRefused: (error) => dispatch({ kind: "refused", error }),
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [id, endpoint]);
  return told;
}

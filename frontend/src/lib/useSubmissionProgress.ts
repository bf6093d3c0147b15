/** Follow the progress of a submission in a component, with at most one render per frame. */
import { useEffect, useReducer } from "react";
import type { ApiError } from "./api";
import { applyEvents, initialProgress, isVerdict, type SubmissionProgress } from "./submissionProgress";
import { subscribe } from "./eventStream";
import type { Endpoint, SubmissionEvent } from "./generated";

export interface FollowedSubmission {
  progress: SubmissionProgress;
  /** Failed connections in a row; 0 while connected. */
  failures: number;
  error: ApiError | null;
}

type Action =
  | { kind: "start"; endpoint: Endpoint }
  | { kind: "events"; events: SubmissionEvent[] }
  | { kind: "disconnect"; failures: number }
  | { kind: "error"; error: ApiError };

function initial(endpoint: Endpoint): FollowedSubmission {
  return { progress: initialProgress(endpoint), failures: 0, error: null };
}

function reduce(state: FollowedSubmission, action: Action): FollowedSubmission {
  switch (action.kind) {
    case "start":
      return initial(action.endpoint);
    case "events":
      return { ...state, progress: applyEvents(state.progress, action.events) };
    case "disconnect":
      return { ...state, failures: action.failures };
    case "error":
      return { ...state, error: action.error };
  }
}

/** Follow the submission; without an id the progress stays empty. */
export function useSubmissionProgress(id: string | null, endpoint: Endpoint): FollowedSubmission {
  const [state, dispatch] = useReducer(reduce, endpoint, initial);
  useEffect(() => {
    dispatch({ kind: "start", endpoint });
    if (id === null) return undefined;
    let pending: SubmissionEvent[] = [];
    let frame = 0;
    const flush = (): void => {
      frame = 0;
      const events = pending;
      pending = [];
      dispatch({ kind: "events", events });
    };
    const unsubscribe = subscribe(id, 0, (event) => isVerdict(endpoint, event), {
      onEvents: (events) => {
        pending.push(...events);
        // A tab in the background gets no frames, but its title must still be updated.
        if (document.hidden) flush();
        else frame ||= requestAnimationFrame(flush);
      },
      onDisconnect: (failures) => dispatch({ kind: "disconnect", failures }),
      onError: (error) => dispatch({ kind: "error", error }),
    });
    return () => {
      unsubscribe();
      cancelAnimationFrame(frame);
    };
  }, [id, endpoint]);
  return state;
}

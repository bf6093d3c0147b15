import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoffMs, EventParser, subscribe } from "./eventStream";
import type { SubmissionEvent } from "./generated";

describe("EventParser", () => {
  const wire = 'id: 1\nevent: IN_QUEUE\ndata: {"id":1,"status":"IN_QUEUE"}\n\n: keep-alive\n\nid: 2\ndata: {"id":2,"status":"ERROR"}\n\n';

  it("parses the same events wherever the text is split", () => {
    for (let cut = 0; cut <= wire.length; cut++) {
      const parser = new EventParser();
      const ids = [...parser.feed(wire.slice(0, cut)), ...parser.feed(wire.slice(cut))].map((event) => event.id);
      expect(ids).toEqual([1, 2]);
    }
  });

  it("withholds an event until it is complete", () => {
    expect(new EventParser().feed('id: 1\ndata: {"id":1')).toEqual([]);
  });
});

describe("backoffMs", () => {
  it("doubles up to a limit, with 25% jitter", () => {
    expect(backoffMs(1, 0.5)).toBe(250);
    expect(backoffMs(3, 0.5)).toBe(1000);
    expect(backoffMs(30, 1)).toBe(10_000);
  });
});

describe("subscribe", () => {
  /** The Last-Event-ID of each request. */
  let lastEventIds: (string | null)[] = [];
  let responses: (string | null)[] = [];

  /** Serve each request the next response. A null after it keeps the connection open without sending more. */
  function fakeFetch(_: string, init: RequestInit): Promise<Response> {
    lastEventIds.push(new Headers(init.headers).get("Last-Event-ID"));
    const text = responses.shift() ?? "";
    const isOpen = responses[0] === null;
    if (isOpen) responses.shift();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        if (text !== "") controller.enqueue(new TextEncoder().encode(text));
        if (!isOpen) controller.close();
        init.signal?.addEventListener("abort", () => controller.error(new DOMException("", "AbortError")));
      },
    });
    return Promise.resolve(new Response(body));
  }

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", fakeFetch);
    vi.stubGlobal("window", new EventTarget());
    vi.stubGlobal("localStorage", { getItem: () => null });
    lastEventIds = [];
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const event = (id: number, status: string): string => `id: ${id}\ndata: {"id":${id},"status":"${status}"}\n\n`;

  async function receivedIds(): Promise<number[]> {
    const ids: number[] = [];
    const done = new Promise<void>((resolve) => {
      const onEvents = (events: SubmissionEvent[]): void => {
        ids.push(...events.map((received) => received.id));
        if (ids.at(-1) === 3) resolve();
      };
      subscribe("sub_1", 0, (received) => received.status === "ACCEPTED", { onEvents });
    });
    await vi.advanceTimersByTimeAsync(60_000);
    await done;
    return ids;
  }

  it("resumes after the last event when the connection is lost, without duplicates", async () => {
    responses = [event(1, "IN_QUEUE") + event(2, "CHECKING"), event(2, "CHECKING") + event(3, "ACCEPTED")];
    expect(await receivedIds()).toEqual([1, 2, 3]);
    expect(lastEventIds).toEqual([null, "2"]);
  });

  it("reconnects when the stream is silent for too long", async () => {
    responses = [event(1, "IN_QUEUE"), null, event(2, "CHECKING") + event(3, "ACCEPTED")];
    expect(await receivedIds()).toEqual([1, 2, 3]);
    expect(lastEventIds).toEqual([null, "1"]);
  });
});

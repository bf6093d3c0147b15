import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { follow, Parser, waitMs } from "./stream";
import type { StreamEvent } from "./types";

describe("the parser of the stream", () => {
  const wire = 'id: 1\nevent: IN_QUEUE\ndata: {"id":1,"status":"IN_QUEUE"}\n\n: still here\n\nid: 2\ndata: {"id":2,"status":"ERROR"}\n\n';

  it("finds the same events wherever the text is cut", () => {
    for (let cut = 0; cut <= wire.length; cut++) {
      const parser = new Parser();
      const ids = [...parser.feed(wire.slice(0, cut)), ...parser.feed(wire.slice(cut))].map((event) => event.id);
      expect(ids).toEqual([1, 2]);
    }
  });

  it("keeps an event back until it is whole", () => {
    expect(new Parser().feed('id: 1\ndata: {"id":1')).toEqual([]);
  });
});

describe("the wait before the next try", () => {
  it("doubles up to a limit, give or take a quarter", () => {
    expect(waitMs(1, 0.5)).toBe(250);
    expect(waitMs(3, 0.5)).toBe(1000);
    expect(waitMs(30, 1)).toBe(10_000);
  });
});

describe("a stream that is followed", () => {
  /** What each request asked to go on from. */
  let asked: (string | null)[] = [];
  let answers: (string | null)[] = [];

  /** Each request gets the next of the answers; null is a line that says nothing more and stays open. */
  function served(_: string, init: RequestInit): Promise<Response> {
    asked.push(new Headers(init.headers).get("Last-Event-ID"));
    const text = answers.shift() ?? "";
    const isOpen = answers[0] === null;
    if (isOpen) answers.shift();
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
    vi.stubGlobal("fetch", served);
    vi.stubGlobal("window", new EventTarget());
    vi.stubGlobal("localStorage", { getItem: () => null });
    asked = [];
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const event = (id: number, status: string): string => `id: ${id}\ndata: {"id":${id},"status":"${status}"}\n\n`;

  async function heard(): Promise<number[]> {
    const ids: number[] = [];
    const done = new Promise<void>((resolve) => {
      const onEvents = (events: StreamEvent[]): void => {
        ids.push(...events.map((each) => each.id));
        if (ids.at(-1) === 3) resolve();
      };
      follow("sub_1", 0, (each) => each.status === "ACCEPTED", { onEvents });
    });
    await vi.advanceTimersByTimeAsync(60_000);
    await done;
    return ids;
  }

  it("goes on after its last event when the line is cut, and hears nothing twice", async () => {
    answers = [event(1, "IN_QUEUE") + event(2, "CHECKING"), event(2, "CHECKING") + event(3, "ACCEPTED")];
    expect(await heard()).toEqual([1, 2, 3]);
    expect(asked).toEqual([null, "2"]);
  });

  it("takes a line that is silent for too long as cut", async () => {
    answers = [event(1, "IN_QUEUE"), null, event(2, "CHECKING") + event(3, "ACCEPTED")];
    expect(await heard()).toEqual([1, 2, 3]);
    expect(asked).toEqual([null, "1"]);
  });
});

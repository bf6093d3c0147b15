import { describe, expect, it } from "vitest";
import { Parser, waitMs } from "./stream";

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

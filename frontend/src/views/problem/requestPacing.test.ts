import { expect, test } from "vitest";
import { BACKOFF_MS, MAX_PER_MINUTE, RequestPacing, TYPING_PAUSE_MS } from "./requestPacing";

test("a request waits for a pause in typing, and no more while there are few", () => {
  const pacing = new RequestPacing();
  expect(pacing.delayMs(0)).toBe(TYPING_PAUSE_MS);
  pacing.sent(0);
  expect(pacing.delayMs(1000)).toBe(TYPING_PAUSE_MS);
});

test("however one types, there are at most 30 requests per minute", () => {
  const pacing = new RequestPacing();
  let nowMs = 0;
  const sent: number[] = [];
  while (nowMs < 300_000) {
    nowMs += pacing.delayMs(nowMs);
    pacing.sent(nowMs);
    sent.push(nowMs);
  }
  for (const start of sent) {
    expect(sent.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(MAX_PER_MINUTE);
  }
});

test("after a rejection no request is sent for a minute", () => {
  const pacing = new RequestPacing();
  pacing.rejected(5000);
  expect(pacing.delayMs(6000)).toBe(BACKOFF_MS - 1000);
});

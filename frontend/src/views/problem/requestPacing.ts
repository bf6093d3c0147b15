/** When the next X-ray of the editor's code may be requested. Typing must use only a part of the service's rate limit. */

export const TYPING_PAUSE_MS = 400;
/** Per minute. The service allows 600 per user unless an operator sets another limit. */
export const MAX_PER_MINUTE = 30;
/** After the service rejects a request because of its rate limit; its windows are a minute long. */
export const BACKOFF_MS = 60_000;
const WINDOW_MS = 60_000;

export class RequestPacing {
  private sentMs: number[] = [];
  private notBeforeMs = 0;

  /** How long to wait from now: at least the pause in typing. */
  delayMs(nowMs: number): number {
    this.sentMs = this.sentMs.filter((sent) => sent > nowMs - WINDOW_MS);
    const oldest = this.sentMs.length < MAX_PER_MINUTE ? undefined : this.sentMs[0];
    const free = oldest === undefined ? nowMs : oldest + WINDOW_MS;
    return Math.max(TYPING_PAUSE_MS, free - nowMs, this.notBeforeMs - nowMs);
  }

  sent(nowMs: number): void {
    this.sentMs.push(nowMs);
  }

  rejected(nowMs: number): void {
    this.notBeforeMs = nowMs + BACKOFF_MS;
  }
}

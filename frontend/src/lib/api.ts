/** The one way to the service: typed requests, refusals as errors, the key, and whether the service is there. */
import { read, write } from "./storage";
import type { Code, Endpoint, Forecast, Gpu, Offer, Operations, ProblemDetail, ProblemSummary, Ready, Refusal } from "./types";
import type { PaceForecast, SubmissionDetail, SubmissionPage, Taken, WhatIf } from "./types";

const ROOT = "/api/amd";
const KEY = "warmfront.key";
const ANSWER_MS = 30_000;

/** The service said no, and what to do about it. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.detail);
    this.name = "Refused";
    this.refusal = refusal;
  }
}

/** The service did not answer at all. */
export class Away extends Error {
  constructor() {
    super("The service does not answer.");
    this.name = "Away";
  }
}

/** What the shell shows above every view. */
export interface Link {
  away: boolean;
  /** Why a key is asked for; null where none is. */
  keyWanted: string | null;
  /** Ours minus the service's clock, in ms: its times are shown by its clock. */
  skewMs: number;
}

/** Who said "not now" is not asked again by every request that follows. */
let declined = false;
let link: Link = { away: false, keyWanted: null, skewMs: 0 };
const watchers = new Set<() => void>();

export function currentLink(): Link {
  return link;
}

export function watchLink(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

export function setLink(change: Partial<Link>): void {
  const next = { ...link, ...change };
  if (next.away === link.away && next.keyWanted === link.keyWanted && next.skewMs === link.skewMs) return;
  link = next;
  watchers.forEach((watcher) => watcher());
}

/** Ask for a key, and why. */
export function wantKey(why: string): void {
  declined = false;
  setLink({ keyWanted: why });
}

export function declineKey(): void {
  declined = true;
  setLink({ keyWanted: null });
}

export function currentKey(): string | null {
  return read(KEY);
}

/** Keep a key, or forget it. */
export function setKey(key: string | null): void {
  write(KEY, key);
  setLink({ keyWanted: null });
}

export function headers(more: Record<string, string> = {}): Record<string, string> {
  const key = currentKey();
  return key === null ? more : { ...more, Authorization: `Bearer ${key}` };
}

/** Ask; a refusal or silence is thrown, and known to the shell. */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const given = init.headers as Record<string, string> | undefined;
  let answer: Response;
  try {
    answer = await fetch(`${ROOT}${path}`, { ...init, headers: headers(given), cache: "no-store" });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    setLink({ away: true });
    throw new Away();
  }
  noteClock(answer);
  setLink({ away: false });
  if (answer.ok) return answer;
  const refusal = await readRefusal(answer);
  if (answer.status === 401 && !declined) wantKey(refusal.detail);
  throw new Refused(refusal);
}

async function json<T>(path: string, init: RequestInit = {}): Promise<T> {
  const signal = init.signal ?? AbortSignal.timeout(ANSWER_MS);
  const answer = await ask(path, { ...init, signal }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      setLink({ away: true });
      throw new Away();
    }
    throw error;
  });
  return (await answer.json()) as T;
}

/** A proxy's own pages are no problem+json. */
async function readRefusal(answer: Response): Promise<Refusal> {
  try {
    return (await answer.json()) as Refusal;
  } catch {
    return {
      status: answer.status,
      code: "HTTP_ERROR",
      detail: `The answer was ${answer.status} ${answer.statusText}.`,
      hint: "Try again in a moment.",
    };
  }
}

/** A clock is only believed to be off where it is off by more than an answer can take. */
function noteClock(answer: Response): void {
  const date = Date.parse(answer.headers.get("date") ?? "");
  if (Number.isNaN(date)) return;
  const skewMs = Date.now() - date;
  setLink({ skewMs: Math.abs(skewMs) > 3000 ? Math.round(skewMs / 1000) * 1000 : 0 });
}

const part = encodeURIComponent;

function query(fields: Record<string, string | number | boolean | null | undefined>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

/** Any answer of the service, by its path below /api/amd. */
export function get<T>(path: string, fields: Parameters<typeof query>[0] = {}, signal?: AbortSignal): Promise<T> {
  return json<T>(`${path}${query(fields)}`, signal === undefined ? {} : { signal });
}

export function post<T>(path: string, body: unknown, more: Record<string, string> = {}): Promise<T> {
  return json<T>(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", Accept: "application/json", ...more },
  });
}

export const problems = (): Promise<{ items: ProblemSummary[] }> => get("/problems");
export const problem = (slug: string): Promise<ProblemDetail> => get(`/problems/${part(slug)}`);
export const gpus = (): Promise<{ items: Gpu[] }> => get("/gpus");
export const ready = (): Promise<Ready> => get("/ready");
export const submission = (id: string): Promise<SubmissionDetail> => get(`/submissions/${part(id)}`);
export const submissions = (fields: Parameters<typeof query>[0] = {}): Promise<SubmissionPage> =>
  get("/submissions", fields);
export const code = (id: string): Promise<Code> => get(`/submissions/${part(id)}/code`);
export const cancel = (id: string): Promise<SubmissionDetail> => post(`/submissions/${part(id)}/cancel`, {});
export const quote = (problem: string, gpu_type: string, endpoint: Endpoint): Promise<Offer> =>
  get("/quote", { problem, gpu_type, endpoint });

export interface NewSubmission {
  solution_code: string;
  problem: string;
  gpu_type: string;
  dtype: string;
  endpoint: Endpoint;
}

/** Hand in a kernel. The key makes a repeated request the same submission. */
export const submit = (body: NewSubmission, idempotencyKey: string): Promise<Taken> =>
  post("/submit", body, { "Idempotency-Key": idempotencyKey });

export const operations = (hours: number): Promise<Operations> => get("/operations", { hours });
export const costs = (): Promise<{ forecast?: Forecast | null }> => get("/costs");
/** Simulations, which may take a while; for operators. */
export const whatIf = (): Promise<WhatIf> => get("/what-if", {}, AbortSignal.timeout(300_000));
export const paces = (): Promise<{ items: PaceForecast[] }> => get("/forecast", {}, AbortSignal.timeout(300_000));

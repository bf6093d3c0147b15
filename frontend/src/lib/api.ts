/** HTTP client of the page: typed requests, error responses as exceptions, the API key, and the state of the connection. */
import { pageUser } from "./pageUser";
import { read, write } from "./storage";
import type {
  ApiKeyCreatedResponse,
  ApiKeyListResponse,
  AssignmentRequest,
  ClaimResponse,
  CostsResponse,
  Endpoint,
  GpuListResponse,
  HealthResponse,
  InvitationCreatedResponse,
  InvitationListResponse,
  InvitationPreviewResponse,
  InvitationRequest,
  LeaderboardResponse,
  OperationsResponse,
  PaceForecastListResponse,
  ProblemDetailResponse,
  ProblemDetails,
  ProblemListResponse,
  ProfileResponse,
  ProvisioningResponse,
  PublicShareListResponse,
  QuoteResponse,
  ReadinessResponse,
  Role,
  ShareListResponse,
  ShareResponse,
  SharedResponse,
  XrayShareRequest,
  SourceResponse,
  SubmissionCreatedResponse,
  SubmissionDetailResponse,
  SubmissionPageResponse,
  SubmitRequest,
  TeamDetailResponse,
  UserListResponse,
  UserRequest,
  UserResponse,
  Visibility,
  WhatIfResponse,
} from "./generated";

const ROOT = "/api/amd";
const KEY = "warmfront.key";
/** The window event that is dispatched when a request is rejected because the service is on standby. */
export const ON_STANDBY = "warmfront:standby";
const TIMEOUT_MS = 30_000;
const SIMULATION_TIMEOUT_MS = 300_000;

/** An error response of the service, with its code, detail and hint. */
export class ApiError extends Error {
  readonly body: ProblemDetails;

  constructor(body: ProblemDetails) {
    super(body.detail);
    this.name = "ApiError";
    this.body = body;
  }
}

/** No response: the connection failed or timed out. */
export class ServiceUnreachable extends Error {
  constructor() {
    super("The service is unreachable.");
    this.name = "ServiceUnreachable";
  }
}

/** State of the connection to the service, shown by the shell above every view. */
export interface Connection {
  unreachable: boolean;
  /** Why the page asks for an API key; null if it does not ask for one. */
  keyPrompt: string | null;
  /** This browser's clock minus the service's, in ms. Times are shown by the service's clock. */
  skewMs: number;
  /** The user who is signed in now, if that is not the one who opened this page. */
  userChanged: string | null;
}

/** True after "Not now": later 401 responses do not open the key dialog again. */
let promptDismissed = false;
let connection: Connection = { unreachable: false, keyPrompt: null, skewMs: 0, userChanged: null };
const watchers = new Set<() => void>();

export function currentConnection(): Connection {
  return connection;
}

export function watchConnection(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

export function updateConnection(change: Partial<Connection>): void {
  const next = { ...connection, ...change };
  const names = Object.keys(next) as (keyof Connection)[];
  if (names.every((name) => next[name] === connection[name])) return;
  connection = next;
  watchers.forEach((watcher) => watcher());
}

/** Open the dialog that asks for an API key, with the reason. */
export function promptForKey(reason: string): void {
  promptDismissed = false;
  updateConnection({ keyPrompt: reason });
}

export function dismissKeyPrompt(): void {
  promptDismissed = true;
  updateConnection({ keyPrompt: null });
}

export function currentKey(): string | null {
  return read(KEY);
}

/** Store the API key in this browser; null deletes it. */
export function setKey(key: string | null): void {
  write(KEY, key);
  updateConnection({ keyPrompt: null });
}

function withKey(headers: Record<string, string> = {}): Record<string, string> {
  const key = currentKey();
  const user = pageUser();
  return {
    ...headers,
    ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
    ...(user === null ? {} : { "X-Warmfront-User": user }),
  };
}

/** Send a request. Throws ApiError or ServiceUnreachable, and updates the connection state. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    const headers = withKey(init.headers as Record<string, string> | undefined);
    response = await fetch(`${ROOT}${path}`, { ...init, headers, cache: "no-store" });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    updateConnection({ unreachable: true });
    throw new ServiceUnreachable();
  }
  updateClockSkew(response);
  updateConnection({ unreachable: false });
  if (response.ok) return response;
  const body = await readErrorBody(response);
  if (response.status === 401 && !promptDismissed) promptForKey(body.detail);
  if (body.code === "USER_CHANGED") updateConnection({ userChanged: "Another user" });
  if (body.code === "ON_STANDBY") window.dispatchEvent(new Event(ON_STANDBY));
  throw new ApiError(body);
}

async function json<T>(path: string, init: RequestInit = {}): Promise<T> {
  const signal = init.signal ?? AbortSignal.timeout(TIMEOUT_MS);
  const response = await request(path, { ...init, signal }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      updateConnection({ unreachable: true });
      throw new ServiceUnreachable();
    }
    throw error;
  });
  return (await response.json()) as T;
}

/** Read application/problem+json; a proxy in between may send something else. */
async function readErrorBody(response: Response): Promise<ProblemDetails> {
  try {
    return (await response.json()) as ProblemDetails;
  } catch {
    return {
      type: "about:blank",
      title: response.statusText,
      status: response.status,
      code: "HTTP_ERROR",
      detail: `The server returned ${response.status} ${response.statusText}.`,
      hint: "Try again in a moment.",
      field: null,
      role_needed: null,
    };
  }
}

/** Compare the clocks. A difference of up to 3 s counts as zero: the response itself can take that long. */
function updateClockSkew(response: Response): void {
  const date = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(date)) return;
  const skewMs = Date.now() - date;
  updateConnection({ skewMs: Math.abs(skewMs) > 3000 ? Math.round(skewMs / 1000) * 1000 : 0 });
}

const segment = encodeURIComponent;

function query(fields: Record<string, string | number | boolean | null | undefined>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(present.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

/** GET a path below /api/amd. */
export function get<T>(path: string, fields: Parameters<typeof query>[0] = {}, signal?: AbortSignal): Promise<T> {
  return json<T>(`${path}${query(fields)}`, signal === undefined ? {} : { signal });
}

export function post<T>(path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
  return json<T>(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", Accept: "application/json", ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
}

export const problems = (): Promise<ProblemListResponse> => get("/problems");
export const problem = (slug: string): Promise<ProblemDetailResponse> => get(`/problems/${segment(slug)}`);
export const leaderboard = (slug: string, team: string | null = null): Promise<LeaderboardResponse> =>
  get(`/leaderboard/${segment(slug)}`, { team });
export const gpus = (): Promise<GpuListResponse> => get("/gpus");
export const health = (): Promise<HealthResponse> => get("/health");
export const ready = (): Promise<ReadinessResponse> => get("/ready");
export const submission = (id: string): Promise<SubmissionDetailResponse> => get(`/submissions/${segment(id)}`);
export const submissions = (fields: Parameters<typeof query>[0] = {}): Promise<SubmissionPageResponse> =>
  get("/submissions", fields);
export const source = (id: string): Promise<SourceResponse> => get(`/submissions/${segment(id)}/code`);
export const resetProvisioning = (gpu: string): Promise<ProvisioningResponse> => post(`/provisioning/${segment(gpu)}/reset`, {});
export const cancel = (id: string): Promise<SubmissionDetailResponse> => post(`/submissions/${segment(id)}/cancel`, {});
export const quote = (problem: string, gpu_type: string, endpoint: Endpoint): Promise<QuoteResponse> =>
  get("/quote", { problem, gpu_type, endpoint });

/** A request of the page, which always names the endpoint. */
export type NewSubmission = SubmitRequest & { endpoint: Endpoint };

/** Create a submission. Requests with the same idempotency key create only one. */
export const submit = (body: NewSubmission, idempotencyKey: string): Promise<SubmissionCreatedResponse> =>
  post("/submit", body, { "Idempotency-Key": idempotencyKey });

export const operations = (hours: number): Promise<OperationsResponse> => get("/operations", { hours });
export const costs = (): Promise<CostsResponse> => get("/costs");
/** For operators. The service runs a simulation, so the response can take minutes. */
export const whatIf = (): Promise<WhatIfResponse> => get("/what-if", {}, AbortSignal.timeout(SIMULATION_TIMEOUT_MS));
export const paceForecasts = (): Promise<PaceForecastListResponse> =>
  get("/forecast", {}, AbortSignal.timeout(SIMULATION_TIMEOUT_MS));

export const profile = (): Promise<ProfileResponse> => get("/account");
export const claimLocalHistory = (): Promise<ClaimResponse> => post("/account/claim-local-history", {});
export const ownKeys = (): Promise<ApiKeyListResponse> => get("/account/keys");
export const createKey = (role: Role): Promise<ApiKeyCreatedResponse> => post("/account/keys", { role });
export const revokeKey = (id: string): Promise<ApiKeyListResponse> => post(`/account/keys/${segment(id)}/revoke`, {});
export const users = (): Promise<UserListResponse> => get("/users");
export const changeUser = (name: string, body: UserRequest): Promise<UserResponse> => post(`/users/${segment(name)}`, body);
export const invitations = (): Promise<InvitationListResponse> => get("/invitations");
export const createInvitation = (body: InvitationRequest): Promise<InvitationCreatedResponse> => post("/invitations", body);
export const previewInvitation = (secret: string): Promise<InvitationPreviewResponse> => post("/invitations/preview", { secret });
export const revokeInvitation = (id: string): Promise<InvitationListResponse> => post(`/invitations/${segment(id)}/revoke`, {});

export const shared = (id: string): Promise<SharedResponse> => get(`/shared/${segment(id)}`);
export const shareOf = (id: string): Promise<ShareResponse> => get(`/submissions/${segment(id)}/share`);
export const shareSubmission = (id: string, visibility: Visibility): Promise<ShareResponse> =>
  post(`/submissions/${segment(id)}/share`, { visibility });
export const shareXray = (body: XrayShareRequest): Promise<ShareResponse> => post("/shares/xray", body);
export const publicShares = (): Promise<PublicShareListResponse> => get("/shared");
export const ownShares = (): Promise<ShareListResponse> => get("/shares");
export const changeShare = (id: string, visibility: Visibility): Promise<ShareResponse> =>
  post(`/shares/${segment(id)}`, { visibility });

export const team = (name: string): Promise<TeamDetailResponse> => get(`/teams/${segment(name)}`);
export const createAssignment = (name: string, body: AssignmentRequest): Promise<TeamDetailResponse> =>
  post(`/teams/${segment(name)}/assignments`, body);
export const changeDeadline = (name: string, id: string, deadline_at: string): Promise<TeamDetailResponse> =>
  post(`/teams/${segment(name)}/assignments/${segment(id)}/deadline`, { deadline_at });
export const deleteAssignment = (name: string, id: string): Promise<TeamDetailResponse> =>
  post(`/teams/${segment(name)}/assignments/${segment(id)}/delete`, {});
/** The results of a team as CSV. */
export const teamResults = async (name: string): Promise<string> => (await request(`/teams/${segment(name)}/results.csv`)).text();

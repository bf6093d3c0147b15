/** The requests of the operators' view. */
import { get, post } from "../../lib/api";
import type {
  ActionsResponse,
  AlertsResponse,
  AlertTestResponse,
  AuditCheckResponse,
  AuditPageResponse,
  IntakeResponse,
  LimitsResponse,
  VmActionsResponse,
  VmResponse,
} from "../../lib/generated";

const segment = encodeURIComponent;

export type VmAction = "release" | "drain" | "pin" | "unpin";

export const vmActions = (id: string, pinUntil: string | null): Promise<VmActionsResponse> =>
  get(`/vms/${segment(id)}/actions`, { pin_until: pinUntil });
export const actOnVm = (id: string, action: VmAction, until: string | null): Promise<VmResponse> =>
  post(`/vms/${segment(id)}/${action}`, action === "pin" ? { until } : {});
export const cancelActions = (id: string): Promise<ActionsResponse> => get(`/submissions/${segment(id)}/actions`);
export const intakeActions = (mode: string): Promise<ActionsResponse> => get("/intake/actions", { mode });
export const pauseIntake = (mode: string, reason: string): Promise<IntakeResponse> => post("/intake/pause", { mode, reason });
export const resumeIntake = (): Promise<IntakeResponse> => post("/intake/resume", {});
export const limits = (): Promise<LimitsResponse> => get("/limits");
export const changeLimit = (name: string, value: string | null, reason: string, dryRun: boolean): Promise<LimitsResponse> =>
  post("/limits", { changes: { [name]: value }, reason, dry_run: dryRun });
export const alerts = (): Promise<AlertsResponse> => get("/alerts");
export const testAlerts = (): Promise<AlertTestResponse> => post("/alerts/test", {});
export const audit = (before: number | null, action: string): Promise<AuditPageResponse> => get("/audit", { limit: 25, before, action });
export const checkAudit = (): Promise<AuditCheckResponse> => get("/audit/check");

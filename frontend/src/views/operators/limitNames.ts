/** The names of limits, as the page shows them. */
export const LIMIT_NAMES: Record<string, string> = {
  idle_timeout_s: "Idle timeout, seconds",
  idle_timeout_max_s: "Longest idle time, seconds",
  keep_warm: "Keep-warm policy",
  wait_value_usd_per_h: "Value of waiting, $ per hour",
  max_vms: "VMs at a time",
  credits_usd: "Credits, $",
  alert_threshold: "Budget alert at this share",
  alert_burn_usd_per_h: "Burn rate alert, $ per hour",
  alert_queue_wait_s: "Queue wait alert, seconds",
  daily_budget_usd: "Daily budget per user, $",
  team_daily_budget_usd: "Daily budget per team, $",
  total_daily_budget_usd: "Daily budget in total, $",
};

/** The values of limits that are not numbers. */
export const LIMIT_CHOICES: Partial<Record<string, string[]>> = { keep_warm: ["fixed", "adaptive"] };

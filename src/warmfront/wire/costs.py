"""Metrics and costs. Every amount comes from the ledger."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from warmfront.store.records import Meter
from warmfront.verdicts import Verdict
from warmfront.vm import VMState
from warmfront.wire.base import Dollars, ResponseModel, Timestamp
from warmfront.wire.forecasts import ForecastResponse


class MetricsResponse(ResponseModel):
    """The seven headline metrics."""

    total_cost_usd: Dollars = Field(examples=[5.25])
    remaining_credits_usd: Dollars = Field(examples=[1394.75])
    credits_used_pct: float = Field(examples=[0.4])
    tasks_completed: int = Field(examples=[42])
    cold_starts: int = Field(examples=[3])
    warm_reuses: int = Field(examples=[39])
    active_vms: int = Field(examples=[1])


class LatencyPercentiles(ResponseModel):
    """Seconds from submission to verdict; null if there are none."""

    count: int
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None


class Latencies(ResponseModel):
    """Latencies of all submissions, of cold starts and of warm reuses."""

    all: LatencyPercentiles
    cold: LatencyPercentiles
    warm: LatencyPercentiles


class DailyCost(ResponseModel):
    """The cost of one day, UTC."""

    day: str = Field(examples=["2026-01-31"])
    cost_usd: Dollars


class MetricsDetailResponse(MetricsResponse):
    """The headline metrics, with detailed figures."""

    simulated: bool = Field(description="Costs are simulated; no money was spent.")
    reserved_usd: Dollars
    pool: dict[VMState, int] = Field(description="Live VMs, by state.")
    queue_length: int
    verdicts: dict[Verdict, int]
    latencies_s: Latencies
    costs_by_day: list[DailyCost]


class MeterCost(ResponseModel):
    """The cost of one activity of VMs."""

    meter: Meter
    cost_usd: Dollars


class VmCost(ResponseModel):
    """The cost of one VM."""

    vm_id: str
    state: VMState
    cost_usd: Dollars
    meters: list[MeterCost]


class TodaysBudget(ResponseModel):
    """The caller's spending today (UTC), and its limit."""

    user: str
    spent_usd: Dollars
    expected_usd: Dollars = Field(
        default=Decimal(0),
        description="The expected cost of the caller's unfinished submissions; it counts against the cap.",
    )
    limit_usd: Dollars | None = Field(description="Null if the user has no daily cap.")


class BillingDifferenceResponse(ResponseModel):
    """A VM whose ledger and provider record differ by more than a cent."""

    vm_id: str
    ledger_usd: Dollars
    billed_usd: Dollars = Field(description="According to the provider's record.")


class BillingReconciliationResponse(ResponseModel):
    """The ledger compared with the provider's record of recently ended VMs."""

    checked_at: Timestamp
    vms: int = Field(description="How many VMs were compared.")
    differences: list[BillingDifferenceResponse]


class CpuNodeCosts(ResponseModel):
    """The cost of CPU nodes, and the cost of the same time on VMs with a GPU."""

    seconds: float = Field(description="How long CPU nodes were billed: booting, judging and idle.")
    cost_usd: Dollars = Field(description="According to the ledger.")
    gpu_type: str = Field(description="The default GPU type, which the comparison uses.")
    gpu_usd: Dollars = Field(description="`seconds` at today's hourly rate of a VM with that GPU type.")
    saved_usd: Dollars = Field(description="`gpu_usd` minus `cost_usd`.")


class CostsResponse(ResponseModel):
    """Credits, reservations and costs by VM, phase and day."""

    simulated: bool = Field(description="Costs are simulated; no money was spent.")
    credits_usd: Dollars
    total_usd: Dollars
    reserved_usd: Dollars = Field(description="The escrow: the most that the live VMs can still cost.")
    remaining_usd: Dollars
    pool_usd: Dollars = Field(
        default=Decimal(0),
        description="Charged to the VM pool, not to a submission: idle time and prewarming.",
    )
    by_vm: list[VmCost]
    by_meter: list[MeterCost]
    by_day: list[DailyCost]
    today: TodaysBudget
    cpu_nodes: CpuNodeCosts | None = Field(
        default=None, description="The savings from CPU nodes; null if there were none."
    )
    audit: BillingReconciliationResponse | None = Field(
        description="The latest reconciliation; null before the first."
    )
    forecast: ForecastResponse | None = Field(
        description="Based on full days in the ledger; null with fewer than three."
    )

"""A fleet as a dstack server describes it, for tests without a server."""

from __future__ import annotations

from warmfront import settings
from warmfront.providers.dstack.resources import DstackFleet

#: An active fleet with the default settings' name and price, and no VM.
FLEET = DstackFleet(
    id="1",
    name=settings.load({}, env_file=None).fleet_name,
    status="active",
    status_message=None,
    created_at=0.0,
    min_nodes=0,
    max_nodes=1,
    idle_s=600,
    spot_policy="auto",
    backends=("amddevcloud",),
    max_price_usd_per_h=settings.load({}, env_file=None).rate_usd_per_h,
    gpu_names=("MI300X",),
    instances=(),
)

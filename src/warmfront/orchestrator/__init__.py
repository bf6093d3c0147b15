"""The orchestrator: assigns submissions to VMs and keeps VMs warm just long enough."""

from warmfront.orchestrator.event_log import EventBus, EventLog
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.orchestrator.quotes import Quote
from warmfront.vm import VMInstance, VMState

__all__ = ["EventBus", "EventLog", "Quote", "VMInstance", "VMOrchestrator", "VMState"]

"""Decides which submission runs where, keeps VMs warm just long enough, and forgets nothing."""

from warmfront.orchestrator.log import EventLog
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.orchestrator.quote import Quote
from warmfront.vm import VMInstance, VMState

__all__ = ["EventLog", "Quote", "VMInstance", "VMOrchestrator", "VMState"]

"""The HTTP service on a VM: accept attempts, judge them one at a time, and stream their events."""

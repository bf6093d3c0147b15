"""The HTTP service: authenticates and validates requests, passes them on, and streams stored events."""

"""The running service: its composition root, its HTTP server, and its background tasks."""

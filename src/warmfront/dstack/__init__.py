"""All that knows dstack: its client, its statuses, its configurations, and the fleet that VMs belong to."""

"""Parts of the running service that wait for time to pass or call other systems."""

"""What another policy, another price or another pace would have cost, by replaying arrivals."""

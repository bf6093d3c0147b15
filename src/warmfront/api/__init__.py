"""The HTTP service: checks who asks and what, hands over, and streams what is stored. It decides nothing."""

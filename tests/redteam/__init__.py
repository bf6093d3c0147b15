"""Attacks on the judge, and the verdict that each must get."""

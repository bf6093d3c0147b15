"""Simulate costs: replay arrivals in virtual time under other policies, prices and rates."""

"""The command line."""

from warmfront.cli.fast_start import main

__all__ = ["main"]

"""Run the `warmfront` command with `python -m warmfront`."""

from warmfront.cli import main

main()

"""`python -m warmfront` is the `warmfront` command."""

from warmfront.cli import main

main()

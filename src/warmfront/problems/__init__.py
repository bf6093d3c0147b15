"""Problems: one file per problem, and the registry that finds them.

Importing this package or getting a problem does not import NumPy: the command line starts the compiler first
and imports NumPy while the compiler runs.
"""

from warmfront.problems.registry import all_problems, get

__all__ = ["all_problems", "get"]

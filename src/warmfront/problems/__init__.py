"""Problems: one file per problem, and the registry that finds them.

Neither importing this package nor getting a problem imports NumPy: the command line starts the compiler
first and imports NumPy while the compiler runs.
"""

from warmfront.problems.registry import all_problems, get

__all__ = ["all_problems", "get"]

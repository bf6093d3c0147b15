"""Problems: one file each, and the registry that finds them.

Importing this package, or getting a problem, does not import NumPy: the command line starts the
compiler first, and NumPy loads while it works.
"""

from warmfront.problems.registry import all_problems, get

__all__ = ["all_problems", "get"]

"""Read and edit HIP source text: the lexer, token edits, and the rewriter for the CPU runtime."""

#: The macro around all code for second forms of kernels.
SECOND_FORM = "HIPCPU_LOOPS"

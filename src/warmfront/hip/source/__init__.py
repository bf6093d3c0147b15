"""Read and edit HIP source text: the lexer, token edits, and the rewriter for the CPU runtime."""

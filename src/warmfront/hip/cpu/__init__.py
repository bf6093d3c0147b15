"""The CPU runtime for HIP: headers, library and the rewriter of kernel launches."""

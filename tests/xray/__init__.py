"""The corpus of the X-ray: kernels whose figures must be the compiler's, and kernels with findings."""

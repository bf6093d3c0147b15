"""Where untrusted code is compiled and run: bubblewrap or Docker, one use each."""

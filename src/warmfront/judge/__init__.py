"""Compile, check and benchmark a submission; decides the verdict from outside the sandbox."""

"""Receipts of ACCEPTED submissions: the control plane signs them, and anyone can verify them offline.

    canonical.py     JSON with one spelling per value (RFC 8785), so that a signature covers exact bytes
    keyring.py       the Ed25519 keys of one data directory: the current one, and the retired ones
    signer.py        from an ACCEPTED event to a signed receipt
    score.py         recomputes the score from the raw windows
    verification.py  from the bytes of a file to a verified receipt, or to the reason for refusing it

Code that runs on a VM must not import this package: the judge provides the facts, and only the control plane,
or `warmfront run` on the author's own machine, signs them. docs/receipts.md describes the format.
"""

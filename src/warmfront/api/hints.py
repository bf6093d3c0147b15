"""Hints for HTTP clients: they name routes, headers and fields.

`warmfront.errors` explains the mechanism. An error that is not listed here keeps the hint it was raised with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

_HINTS: Mapping[type[errors.WarmfrontError], str] = {
    errors.UnknownProblem: "GET /api/amd/problems lists the problems.",
    errors.SubmissionNotFound: "GET /api/amd/submissions lists your submissions.",
    errors.VMNotFound: "GET /api/amd/vms lists the recent VMs.",
    errors.OnStandby: "Send the request to the active service, or retry: this one takes over when it ends.",
    errors.Superseded: "Send the request to the active service.",
    errors.SignInRequired: "Sign in on the page, or send an API key in the header `Authorization: Bearer "
    "wf_...`.",
    errors.NotAuthenticated: "Send an API key in the header `Authorization: Bearer wf_...`.",
}


def api_hint(error: errors.WarmfrontError) -> str:
    """Return the hint of an error for HTTP clients; empty if there is none."""
    return errors.hint_for(error, _HINTS)

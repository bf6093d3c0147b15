"""The XRAY event where there is no X-ray: its notes say why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from warmfront import gpus, settings
from warmfront.hip.xray import analysis
from warmfront.hip.xray.analysis import xray_event

if TYPE_CHECKING:
    import pytest

    from warmfront.events import Xray
    from warmfront.gpus import Gpu
    from warmfront.sandbox.base import Sandbox


def event_for(gpu: Gpu) -> Xray:
    """Return the event for an empty source."""
    return xray_event(
        "",
        file_name="kernel.hip",
        gpu=gpu,
        problem=None,
        dtype=None,
        sandbox=cast("Sandbox", None),
        settings=settings.load({}, env_file=None),
    )


def test_an_xray_that_fails_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an unexpected error the event has only the error, and no statement about the source."""

    def fail(*_: object, **__: object) -> None:
        raise KeyError("NumVgprs")

    monkeypatch.setattr(analysis, "xray", fail)
    event = event_for(gpus.MI300X)
    assert event.compiles is None
    assert event.notes == ["The X-ray failed: KeyError: 'NumVgprs'"]


def test_a_gpu_that_the_compiler_does_not_support_is_a_note() -> None:
    """For a GPU with an unsupported architecture the event has its architecture and a note."""
    event = event_for(replace(gpus.MI300X, name="MI430X", arch="gfx1250"))
    assert (event.arch, event.compiles) == ("gfx1250", None)
    (note,) = event.notes
    assert note.startswith("The X-ray does not support the architecture 'gfx1250'; supported: gfx942")

"""The image of a link preview."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from warmfront.api.preview_image import HEIGHT_PX, WIDTH_PX, TextLine, draw_preview


def _pixels(png: bytes) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return the palette indices of a PNG, after checking its structure."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack_from(">I", png, at + 8 + size)
        assert checksum == zlib.crc32(kind + data)
        chunks[kind] = data
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, depth, color = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    assert (width, height, depth, color) == (WIDTH_PX, HEIGHT_PX, 8, 3)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


def test_lines_are_drawn_in_their_colors() -> None:
    """A line of one letter has its dots at the margin, and a valid PNG around it."""
    pixels = _pixels(draw_preview([TextLine("I", 10, "good"), TextLine("bad", 6, "bad")]))
    assert (pixels[80, 90:120] == 4).all()  # the upper bar of the I
    assert pixels[80, 85] == 0
    assert (pixels == 5).any()


def test_any_text_fits() -> None:
    """Long lines get smaller, very long ones are cut, and unknown characters become question marks."""
    question, unknown = (_pixels(draw_preview([TextLine(text, 8, "text")])) for text in ("??", "é✓"))
    assert (question == unknown).all()
    for text in ("x" * 40, "W" * 5000, "", " "):
        pixels = _pixels(draw_preview([TextLine(text, 13, "text")]))
        assert not pixels[:, WIDTH_PX - 80 : WIDTH_PX][: HEIGHT_PX - 16].any()

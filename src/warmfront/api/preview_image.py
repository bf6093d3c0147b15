"""Draw the image of a link preview: a PNG with a few lines of text, in a font of five by seven dots.

A picture of text needs no imaging library: the dots are scaled into an array of palette indices, and a PNG is
that array, compressed.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The size that sites expect of a preview.
WIDTH_PX, HEIGHT_PX = 1200, 630
_MARGIN_PX = 80
_LINE_SPACE_PX = 40
#: Smaller dots cannot be read in a preview.
_MIN_DOT_PX = 4
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Dots per line of a character, with the space after it.
_ADVANCE_DOTS = 6

#: The colors, by name; their order is the palette of the image.
_PALETTE = {
    "background": (28, 25, 23),
    "text": (250, 250, 249),
    "dim": (168, 162, 158),
    "accent": (251, 146, 60),
    "good": (74, 222, 128),
    "bad": (248, 113, 113),
}

#: Seven lines of five dots per character, as the bits of two hexadecimal digits.
_GLYPHS = {
    "A": "0e11111f111111",
    "B": "1e11111e11111e",
    "C": "0e11101010110e",
    "D": "1e11111111111e",
    "E": "1f10101e10101f",
    "F": "1f10101e101010",
    "G": "0e11101711110f",
    "H": "1111111f111111",
    "I": "0e04040404040e",
    "J": "0702020202120c",
    "K": "11121418141211",
    "L": "1010101010101f",
    "M": "111b1515111111",
    "N": "11191513111111",
    "O": "0e11111111110e",
    "P": "1e11111e101010",
    "Q": "0e11111115120d",
    "R": "1e11111e141211",
    "S": "0f10100e01011e",
    "T": "1f040404040404",
    "U": "1111111111110e",
    "V": "11111111110a04",
    "W": "1111111515150a",
    "X": "11110a040a1111",
    "Y": "11110a04040404",
    "Z": "1f01020408101f",
    "0": "0e11131519110e",
    "1": "040c040404040e",
    "2": "0e11010608101f",
    "3": "1e01010e01011e",
    "4": "02060a121f0202",
    "5": "1f101e0101110e",
    "6": "0608101e11110e",
    "7": "1f010204040404",
    "8": "0e11110e11110e",
    "9": "0e11110f01020c",
    ".": "00000000000c0c",
    ",": "000000000c0408",
    "-": "0000000e000000",
    "_": "0000000000001f",
    "/": "01020204080810",
    ":": "000c0c000c0c00",
    "%": "191a0204080b13",
    "(": "02040808080402",
    ")": "08040202020408",
    "+": "0004041f040400",
    "@": "0e11171517100e",
    "#": "0a0a1f0a1f0a0a",
    "?": "0e110102040004",
}


class TextLine(NamedTuple):
    """One line of the image."""

    text: str
    dot_px: int  #: the size of one dot of the font
    color: str  #: a name of the palette


def draw_preview(lines: Sequence[TextLine]) -> bytes:
    """Return a PNG with these lines. A long line gets smaller dots, and a very long one is cut."""
    pixels = np.zeros((HEIGHT_PX, WIDTH_PX), np.uint8)
    top = _MARGIN_PX
    for line in lines:
        fitting = line._replace(dot_px=min(line.dot_px, max(_MIN_DOT_PX, _fitting_dot_px(line.text))))
        _draw_line(pixels, fitting, top)
        top += 7 * fitting.dot_px + _LINE_SPACE_PX
    pixels[HEIGHT_PX - 16 :] = _index("accent")
    return _png(pixels)


def _fitting_dot_px(text: str) -> int:
    return (WIDTH_PX - 2 * _MARGIN_PX) // (_ADVANCE_DOTS * max(1, len(text)))


def _draw_line(pixels: NDArray[np.uint8], line: TextLine, top: int) -> None:
    fits = (WIDTH_PX - 2 * _MARGIN_PX) // (_ADVANCE_DOTS * line.dot_px)
    for number, character in enumerate(line.text.upper()[:fits]):
        glyph = _GLYPHS.get(character, "" if character == " " else _GLYPHS["?"])
        left = _MARGIN_PX + number * _ADVANCE_DOTS * line.dot_px
        for row, bits in enumerate(bytes.fromhex(glyph)):
            for column in range(5):
                if bits >> (4 - column) & 1:
                    y, x = top + row * line.dot_px, left + column * line.dot_px
                    pixels[y : y + line.dot_px, x : x + line.dot_px] = _index(line.color)


def _index(color: str) -> int:
    return list(_PALETTE).index(color)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    height, width = pixels.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row begins with the number of its filter, 0
    rows[:, 1:] = pixels
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # eight bits per pixel, with a palette
    palette = b"".join(bytes(color) for color in _PALETTE.values())
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

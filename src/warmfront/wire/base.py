"""Base classes and field types that all wire models share.

In Python a timestamp is seconds since 1970 and an amount is `Decimal` dollars. In JSON a timestamp is ISO
8601 text in UTC with milliseconds, and an amount is a number with at most six decimals.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from warmfront.events import format_time

#: A kernel on a warm VM costs a fraction of a cent, so amounts are not rounded to cents.
_MICRODOLLAR = Decimal("0.000001")


class RequestModel(BaseModel):
    """Base of request bodies: no type coercion, and unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ResponseModel(BaseModel):
    """Base of responses. A client keeps unknown fields, so that no data of a newer server is lost."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        defer_build=True,  # the command line imports models that it never uses
        json_schema_serialization_defaults_required=True,  # the server also sends fields that have a default
    )

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object, including unknown fields of a newer server."""
        return self.model_dump(mode="json", by_alias=True)


def isoformat(seconds: float) -> str:
    """Format seconds since 1970 as UTC with milliseconds, such as `2026-01-31T12:00:00.000Z`."""
    return format_time(datetime.fromtimestamp(seconds, UTC))


def _parse_timestamp(value: object) -> object:
    return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else value


def _parse_dollars(value: object) -> object:
    # The shortest text of a JSON number is the intended amount; `Decimal(0.1)` is not.
    return Decimal(str(value)) if isinstance(value, float | int) else value


def round_dollars(amount_usd: Decimal) -> float:
    """Round an amount to a millionth of a dollar, as a JSON number."""
    return float(amount_usd.quantize(_MICRODOLLAR, ROUND_HALF_UP))


Timestamp = Annotated[
    float,
    BeforeValidator(_parse_timestamp),
    PlainSerializer(isoformat, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-01-31T12:00:00.000Z"]}),
]

Dollars = Annotated[
    Decimal,
    BeforeValidator(_parse_dollars),
    PlainSerializer(round_dollars, return_type=float),
    WithJsonSchema({"type": "number"}),
]

#: The name of a problem, such as `leaky-relu`.
Slug = Annotated[str, Field(min_length=1, max_length=100, examples=["leaky-relu"])]

#: A kernel that solves `leaky-relu`, for OpenAPI.
SOURCE_EXAMPLE = (
    "#include <hip/hip_runtime.h>\n\n"
    "__global__ void leaky_relu(const float* in, float slope, float* out, size_t n) {\n"
    "    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;\n"
    "    if (i < n) out[i] = in[i] > 0 ? in[i] : slope * in[i];\n"
    "}\n\n"
    'extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {\n'
    "    leaky_relu<<<(n * m + 255) / 256, 256>>>(input, alpha, output, n * m);\n"
    "}\n"
)

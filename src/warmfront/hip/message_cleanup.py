"""Remove our own types and functions from compiler messages.

The compiler sees a call with a lambda where the author wrote a launch. This module changes texts, not
positions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.hip.compiler_messages import Message

_OPTION = re.compile(r" \[-[fW][\w=+-]*\]$")
_VECTOR = re.compile(r"HIP_vector_type<(?P<element>[a-z ]+), (?P<count>[1-4])u?>")
_COMPILER_VECTOR = re.compile(
    r"(?:hipcpu::)?ext_vector<(?P<element>[\w ]+|\[\.\.\.\]), ?(?P<count>\d+|\[\.\.\.\])>"
)
_USING = re.compile(r"'using (?P<name>\w+) = [^']*'")
_OUR_ALIAS = re.compile(r"'[^']*(?:hipcpu|hipshared|HIP_vector|vector of)[^']*' \{aka '(?P<real>[^']*)'\}")
_OUR_NAMESPACE = re.compile(r"\b(?:hipcpu|hipshared|hiptarget)::")
_ALIAS = re.compile(r" \{aka '[^']*'\}")
_LAMBDA = re.compile(r"[\w:]*(?:\([^()]*\))?(?:::)?<lambda\(auto:?\d*&? ?\.\.\.\)>")
_BOUND = re.compile(r" \[with auto:\d+ = \{[^}]*\}\]")
_SHORT = {"unsigned char": "uchar", "unsigned short": "ushort", "short unsigned int": "ushort",
          "unsigned int": "uint", "long unsigned int": "ulong", "unsigned long": "ulong",
          "long long int": "longlong", "long long": "longlong", "long int": "long",
          "short int": "short", "long long unsigned int": "ulonglong",
          "unsigned long long": "ulonglong"}  # fmt: skip


#: CUDA headers, and their HIP equivalents.
_CUDA_HEADERS = {"cuda.h": "hip_runtime.h", "cuda_runtime.h": "hip_runtime.h",
                 "cuda_runtime_api.h": "hip_runtime_api.h", "device_launch_parameters.h": "hip_runtime.h",
                 "cuda_fp16.h": "hip_fp16.h", "cuda_bf16.h": "hip_bf16.h",
                 "math_constants.h": "hip_math_constants.h",
                 "cooperative_groups.h": "hip_cooperative_groups.h",
                 "cooperative_groups/reduce.h": "hip_cooperative_groups.h"}  # fmt: skip
_CUDA_HEADER = re.compile(r"^'?(?P<name>[\w/]+\.h)'?(?:: No such file or directory| file not found)")
_CUDA_NAME = re.compile(
    r"'cuda(?P<name>[A-Z]\w+)' (?:was not declared|does not name|has not been declared)[^;]*|"
    r"(?:use of undeclared identifier|unknown type name) 'cuda(?P<other>[A-Z]\w+)'[^;]*"
)


def clean_message(text: str) -> str:
    """Return a compiler's message without our types and options, and with HIP's name for a CUDA name."""
    text = _OPTION.sub("", text.strip())
    text = _VECTOR.sub(lambda v: _SHORT.get(v["element"], v["element"]) + v["count"], text)
    text = _COMPILER_VECTOR.sub(_vector_name, text)
    text = _OUR_ALIAS.sub(lambda alias: f"'{alias['real']}'", text)
    text = _USING.sub(lambda using: f"'{using['name']}'", text)
    text = _ALIAS.sub("", _BOUND.sub("", text))
    text = _LAMBDA.sub("the launch", text)
    text = _OUR_NAMESPACE.sub("", text.replace("hipshared::Coordinates", "dim3"))
    text = text.removeprefix("static assertion failed: ").replace("static_assert failed: ", "")
    return _suggest_hip_name(text)


def _vector_name(vector: re.Match[str]) -> str:
    """Return a name for a compiler's vector type; g++ writes [...] for the common parts of two types."""
    parts = [vector[part] for part in ("count", "element") if vector[part] != "[...]"]
    return f"vector of {' '.join(parts)}"


def _suggest_hip_name(text: str) -> str:
    header = _CUDA_HEADER.match(text)
    if header and (hip_header := _CUDA_HEADERS.get(header["name"])):
        return f"{header['name']} is a CUDA header: the HIP header is <hip/{hip_header}>"
    if name := _CUDA_NAME.match(text):
        cuda_name = name["name"] or name["other"]
        hip_name = {"DeviceProp": "DeviceProp_t"}.get(cuda_name, cuda_name)
        return f"'cuda{cuda_name}' is a CUDA name: the HIP name is 'hip{hip_name}'"
    return text


_COUNT = re.compile(r"too (?P<how>many|few) arguments to function(?: call)?,? ?(?:'(?P<signature>.*)')?")
_CONVERSION = re.compile(
    r"(?:invalid conversion from|cannot convert|could not convert .* from) '(?P<has>.*?)' to '(?P<wants>.*?)'"
)
_ARGUMENT = re.compile(r"initializing argument (?P<number>\d+) of '(?P<signature>.*)'")
_NO_MATCH = re.compile(r"no matching function for call to '(?P<call>.*)'")
_CANDIDATE = re.compile(r"candidate: '(?P<declaration>.*)'")
_NOT_VIABLE = re.compile(r"candidate (?:function|template)[^:]*: (?P<reason>.*)")
_SIGNATURE = re.compile(r"^(?:.*?[ *&])??(?P<name>[\w:~]+(?:<.*>)?)\((?P<parameters>.*)\)(?: \[with .*\])?$")


def describe_launch_error(message: Message) -> str:
    """Turn a message about the call that replaces a launch into a message about the launch."""
    text = clean_message(message.text)
    notes = [clean_message(note.text) for note in message.notes]
    if "config(dim3" in text and _COUNT.search(text):
        return "a launch is <<<grid, block>>> or <<<grid, block, shared memory bytes, stream>>>"
    if (count := _COUNT.search(text)) and count["signature"]:
        name, parameters = _split(count["signature"])
        return f"too {count['how']} arguments to kernel '{name}': its parameters are ({parameters})"
    if conversion := _CONVERSION.search(text):
        return _describe_conversion(text, conversion, notes)
    if no_match := _NO_MATCH.search(text):
        return _describe_no_match(no_match["call"], notes)
    return text


def _describe_conversion(text: str, conversion: re.Match[str], notes: list[str]) -> str:
    for note in notes:
        if (argument := _ARGUMENT.search(note)) and "dim3(" not in note:
            name, _ = _split(argument["signature"])
            return (
                f"argument {argument['number']} of kernel '{name}' must be '{conversion['wants']}', "
                f"not '{conversion['has']}'"
            )
    return text


def _describe_no_match(call: str, notes: list[str]) -> str:
    name, arguments = _split(call)
    given = ", ".join(_value_type(argument) for argument in arguments.split(", "))
    text = (
        f"kernel '{name}' cannot be launched with ({given})"
        if "(" in call
        else f"kernel '{name}' cannot be launched with these arguments"
    )
    for note in notes:
        if candidate := _CANDIDATE.search(note):
            return f"{text}: it is declared as '{candidate['declaration']}'"
        if reason := _NOT_VIABLE.search(note):
            return f"{text}: {reason['reason']}"
    return text


def _value_type(argument: str) -> str:
    """Return the type that the author passed, for an argument that the runtime passes on by reference."""
    value = argument.removesuffix("&").removesuffix(" const")
    return value if "*" in value else value.removeprefix("const ")


def _split(signature: str) -> tuple[str, str]:
    """Return the name and parameters of `void k(float*, int) [with …]`."""
    match = _SIGNATURE.match(signature)
    return (match["name"], match["parameters"]) if match else (signature, "")

"""The binary format of the guest's PLAN command. The same structures are defined in guest.cpp."""

from __future__ import annotations

import struct

#: Arguments, slots, whether tensors are shared by IPC handles, shape numbers, slot stride, front guard.
PLAN_HEADER = struct.Struct("<IIIIQQ")
#: Kind, reserved, value, bytes, offset.
PLAN_ARGUMENT = struct.Struct("<IIQQQ")

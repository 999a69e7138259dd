"""gdb prints tensors, lists, numbers and errors of tensor.h as one line each.

    (gdb) source tools/gdb/tensor.py
    (gdb) print x
    $1 = 0x5555556c2600 float32 (2, 3) {1.5, 2, 3, 4, 5, 6} requires_grad, made at main.c:12

Add the first line to ~/.gdbinit to have it always. `print *x` shows the header itself. The file with
the implementation must be compiled with -g; optimised is fine. Nothing is called in the program, so
core dumps print as well.
"""

import struct

import gdb

ELEMENTS = 6  # that are shown of a tensor or a list
MOST_DIMS = 16


class Missing(Exception):
    def __init__(self):
        super().__init__("compile the file with TENSOR_IMPLEMENTATION with -g to see more")


def constant(name):
    """The value of an enumerator; it stays what tensor.h says."""
    try:
        return int(gdb.parse_and_eval(name))
    except gdb.error:
        raise Missing from None


def header(value):
    """The struct that a tn_tensor * points at."""
    try:
        kind = gdb.lookup_type("struct tn_tensor")
    except gdb.error:
        raise Missing from None
    if not kind.fields():
        raise Missing
    return value.cast(kind.pointer()).dereference()


def text(value):
    return value.string(errors="replace") if int(value) else None


def place(file, line):
    """A line below 0 is a code of a language binding."""
    return f"{text(file)}:{int(line)}" if int(file) and int(line) >= 0 else text(file) or "unknown"


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


# --- elements ---------------------------------------------------------------------------------------


def small_float(bits, size, digits):
    """float16, bfloat16 and the two of 8 bits, by the digits of their significand."""
    if size == 2:
        if digits == 11:
            return struct.unpack("<e", struct.pack("<H", bits))[0]
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if digits == 3:  # float8_e5m2: the high byte of a float16
        return struct.unpack("<e", struct.pack("<H", bits << 8))[0]
    sign, exponent, fraction = bits >> 7, bits >> 3 & 15, bits & 7
    if exponent == 15 and fraction == 7:
        return float("nan")
    value = (fraction + 8) * 2.0 ** (exponent - 10) if exponent else fraction * 2.0**-9
    return -value if sign else value


class Dtype:
    """A line of the library's own table."""

    def __init__(self, number):
        try:
            info = gdb.parse_and_eval(f"dtype_table[{int(number)}]")
            self.name = info["text"].string()
            self.bytes, self.digits = int(info["bytes"]), int(info["digits"])
            self.signed = bool(int(info["is_signed"]))
            self.category = int(info["category"])
        except gdb.error:
            raise Missing from None

    def element(self, data):
        order = gdb_order()
        if self.category == constant("TNI_CAT_COMPLEX"):
            re, im = struct.unpack(order + ("ff" if self.bytes == 8 else "dd"), data)
            return f"{re:g}{im:+g}j"
        bits = int.from_bytes(data, "little" if order == "<" else "big")
        if self.category == constant("TNI_CAT_FLOAT"):
            if self.bytes >= 4:
                return f"{struct.unpack(order + ('f' if self.bytes == 4 else 'd'), data)[0]:g}"
            return f"{small_float(bits, self.bytes, self.digits):g}"
        if self.category == constant("TNI_CAT_BOOL"):
            return "true" if bits else "false"
        negative = self.signed and bits >> (8 * self.bytes - 1)
        return str(bits - (1 << 8 * self.bytes) if negative else bits)


def gdb_order():
    return ">" if "big endian" in gdb.execute("show endian", to_string=True) else "<"


def elements(t, dtype, size, stride):
    """The first in row-major order, wherever the strides put them."""
    data, numel = int(t["storage"]["data"]) if int(t["storage"]) else 0, int(t["numel"])
    if not data or not numel:
        return "{}" if not numel else "(no data)"
    shown = []
    for i in range(min(numel, ELEMENTS)):
        at, rest = int(t["offset"]), i
        for n, step in zip(reversed(size), reversed(stride)):
            at, rest = at + rest % n * step, rest // n
        try:
            shown.append(dtype.element(memory(data + at * dtype.bytes, dtype.bytes)))
        except gdb.MemoryError:
            return f"(no memory at {data + at * dtype.bytes:#x})"
    return "{" + ", ".join(shown) + (", ..." if numel > ELEMENTS else "") + "}"


# --- tensors ----------------------------------------------------------------------------------------


def described(t):
    """A header, not NULL, in words."""
    flags, ndim = int(t["flags"]), int(t["ndim"])
    made = f"made at {place(t['file'], t['line'])}" if int(t["file"]) else "made at an unknown line"
    if flags & constant("TNI_FREED") or not int(t["refs"]):
        return f"freed, {made}"
    if ndim > MOST_DIMS or not 0 < int(t["dtype"]) < constant("TN_DTYPE_COUNT"):
        return f"no tensor: it would have {ndim} dimensions and dtype {int(t['dtype'])}"
    dtype = Dtype(t["dtype"])
    size = [int(t["size"][i]) for i in range(ndim)]
    stride = [int(t["stride"][i]) for i in range(ndim)]
    says = [f"{dtype.name} ({', '.join(map(str, size))})"]
    if flags & constant("TNI_META"):
        says.append("on meta")
    elif flags & constant("TNI_GHOST"):
        says.append("without data, in a gradient")
    elif flags & constant("TNI_DEVICE"):
        says.append(f"on device {int(t['device'])}")
    else:
        says.append(elements(t, dtype, size, stride))
    if int(t["node"]):
        row = t["node"]["row"]
        says.append(f"from {text(row['name']) if int(row) else 'a function'},")
    if flags & constant("TNI_REQUIRES"):
        says.append("requires_grad,")
    return " ".join(says + [made])


class TensorPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        address = int(self.value)
        if not address:
            return "NULL"
        try:
            return f"{address:#x} {described(header(self.value))}"
        except Missing as e:
            return f"{address:#x} ({e})"
        except (gdb.error, gdb.MemoryError, RuntimeError) as e:
            return f"{address:#x} (no tensor that can be read: {e})"


class ListPrinter:
    """tn_ints, tn_floats, tn_tensors, tn_list."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        n, at = int(self.value["n"]), self.value["at"]
        if n < 0:
            return "absent"
        if not int(at):
            return "zero bytes, which are an error" if not n else f"{n} at NULL"
        try:
            shown = [at[i].format_string() for i in range(min(n, ELEMENTS))]
        except (gdb.error, gdb.MemoryError) as e:
            return f"{n} that cannot be read: {e}"
        return f"{n}: {{{', '.join(shown)}{', ...' if n > ELEMENTS else ''}}}"


# --- numbers and errors -----------------------------------------------------------------------------


class ScalarPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        v, kind = self.value, int(self.value["kind"])
        try:
            if kind == constant("TN_KIND_NONE"):
                return "None"
            if kind == constant("TN_KIND_BOOL"):
                return "true" if int(v["integer"]) else "false"
            if kind == constant("TN_KIND_INT"):
                return f"int {int(v['integer'])}"
            if kind == constant("TN_KIND_FLOAT"):
                return f"float {float(v['real']):g}"
            if kind == constant("TN_KIND_COMPLEX"):
                return f"complex {float(v['real']):g}{float(v['imaginary']):+g}j"
        except Missing as e:
            return str(e)
        return f"no number (kind {kind}), which is an error"


class MaybePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        given, value = int(self.value["given"]), float(self.value["value"])
        try:
            if given == constant("TN_GIVEN"):
                return f"{value:g}"
            return "None" if given == constant("TN_ABSENT") else "zero bytes, which are an error"
        except Missing as e:
            return str(e)


class ErrorPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        e = self.value
        return f"{e['code']} at {place(e['file'], e['line'])}: {text(e['message']) or 'no message'}"


STRUCTS = {
    "tn_ints": ListPrinter,
    "tn_floats": ListPrinter,
    "tn_tensors": ListPrinter,
    "tn_list": ListPrinter,
    "tn_scalar": ScalarPrinter,
    "tn_maybe": MaybePrinter,
    "tn_error_info": ErrorPrinter,
}


def find(value):
    """gdb asks this for every value that it prints."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR:
        name = kind.target().strip_typedefs().tag
        return TensorPrinter(value) if name == "tn_tensor" else None
    printer = STRUCTS.get(kind.tag) if kind.code == gdb.TYPE_CODE_STRUCT else None
    return printer(value) if printer else None


gdb.pretty_printers[:] = [p for p in gdb.pretty_printers if getattr(p, "__name__", "") != "find"]
gdb.pretty_printers.append(find)

"""The Arrow C data interface, read by ctypes as any consumer reads it, and by pyarrow where it is
there."""

import ctypes
import gc
import struct
import unittest

import npuscope
from support import NAMES, SOURCE, files_of

try:
    import pyarrow
except ImportError:
    pyarrow = None


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def struct_in(capsule, name, kind):
    return ctypes.cast(get_pointer(capsule, name), ctypes.POINTER(kind))


def metadata_of(schema):
    """{"unit": "cycles"}: a count, then each key and value with its length before it."""
    if not schema.metadata:
        return {}
    place = schema.metadata

    def number():
        nonlocal place
        (value,) = struct.unpack("i", ctypes.string_at(place, 4))
        place += 4
        return value

    def text():
        nonlocal place
        size = number()
        value = ctypes.string_at(place, size).decode()
        place += size
        return value

    return {text(): text() for _ in range(number())}


PLAIN = {b"C": ("B", 1), b"I": ("I", 4), b"i": ("i", 4), b"l": ("q", 8), b"g": ("d", 8)}


def bit(buffer, i):
    return ctypes.string_at(buffer + i // 8, 1)[0] >> (i % 8) & 1


def values_of(schema, array):
    """An array as a list, as the specification lays it out."""
    assert array.offset == 0
    count, format = array.length, schema.format
    known = [True] * count
    if array.n_buffers and array.buffers[0]:
        known = [bool(bit(array.buffers[0], i)) for i in range(count)]
    assert known.count(False) == array.null_count, (schema.name, array.null_count)
    if format == b"b":
        values = [bool(bit(array.buffers[1], i)) for i in range(count)]
    elif format in PLAIN:
        code, size = PLAIN[format]
        data = ctypes.string_at(array.buffers[1], size * count) if count else b""
        values = list(struct.unpack(f"{count}{code}", data))
    elif format in (b"U", b"+L"):
        data = ctypes.string_at(array.buffers[1], 8 * (count + 1))
        offsets = struct.unpack(f"{count + 1}q", data)
        if format == b"U":
            text = ctypes.string_at(array.buffers[2], offsets[-1])
            values = [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]
        else:
            items = values_of(schema.children[0].contents, array.children[0].contents)
            values = [items[a:b] for a, b in zip(offsets, offsets[1:])]
    else:
        raise AssertionError(f"format {format}")
    if schema.dictionary:
        texts = values_of(schema.dictionary.contents, array.dictionary.contents)
        values = [texts[code] if is_known else None for code, is_known in zip(values, known)]
    return [value if is_known else None for value, is_known in zip(values, known)]


def read_stream(table):
    """({name: values}, {name: metadata}) of all batches, everything released."""
    capsule = table.__arrow_c_stream__()
    stream = struct_in(capsule, b"arrow_array_stream", Stream)
    schema = Schema()
    assert stream.contents.get_schema(stream, ctypes.byref(schema)) == 0
    assert schema.format == b"+s"
    columns = {schema.children[i].contents.name.decode(): [] for i in range(schema.n_children)}
    about = {
        schema.children[i].contents.name.decode(): metadata_of(schema.children[i].contents)
        for i in range(schema.n_children)
    }
    while True:
        batch = Array()
        assert stream.contents.get_next(stream, ctypes.byref(batch)) == 0
        if not batch.release:
            break
        for i, name in enumerate(columns):
            child = batch.children[i].contents
            assert child.length == batch.length
            columns[name] += values_of(schema.children[i].contents, child)
        batch.release(ctypes.byref(batch))
        assert not batch.release
    schema.release(ctypes.byref(schema))
    assert not schema.release
    stream.contents.release(stream)
    assert not stream.contents.release
    return columns, about


class Arrow(unittest.TestCase):
    def test_every_table_says_what_it_says_otherwise(self):
        for name in NAMES:
            profile = npuscope.open(files_of(name))
            tables = [profile.table(each) for each in profile.table_names]
            tables += profile.show().tables.values()
            for table in tables:
                with self.subTest(recording=name, table=table.name):
                    columns, _ = read_stream(table)
                    expected = {
                        column: [
                            str(value) if table[column].type == "any" and value is not None else value
                            for value in table[column]
                        ]
                        for column in table.columns
                    }
                    self.assertEqual(columns, expected)

    def test_metadata_has_unit_kind_and_origin(self):
        _, about = read_stream(npuscope.open(SOURCE / "examples/qnn_htp").ops())
        self.assertEqual(
            about["work"],
            {"label": "work", "quantity": "time", "unit": "cycles", "kind": "work", "origin": "measured"},
        )
        self.assertEqual(about["ddr_read_bytes"]["unit"], "bytes")

    def test_types_of_a_query(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        columns, _ = read_stream(
            profile.query("SELECT 1 AS i, 0.5 AS r, 'ü' AS t, NULL AS n UNION ALL SELECT NULL, 2, NULL, NULL")
        )
        self.assertEqual(
            columns, {"i": [1, None], "r": [0.5, 2.0], "t": ["ü", None], "n": [None, None]}
        )
        columns, _ = read_stream(profile.query("SELECT 'a' AS v UNION ALL SELECT 2"))
        self.assertEqual(columns, {"v": ["a", "2"]})
        columns, _ = read_stream(profile.query("SELECT 1 AS v WHERE 0"))
        self.assertEqual(columns, {"v": []})

    def test_a_column_alone(self):
        column = npuscope.open(SOURCE / "examples/qnn_htp").ops()["op"]
        schema_capsule, array_capsule = column.__arrow_c_array__()
        schema = struct_in(schema_capsule, b"arrow_schema", Schema).contents
        array = struct_in(array_capsule, b"arrow_array", Array).contents
        self.assertEqual(values_of(schema, array), column.to_list())
        schema_capsule = column.__arrow_c_schema__()
        schema = struct_in(schema_capsule, b"arrow_schema", Schema).contents
        self.assertEqual((schema.format, schema.name), (b"U", b"op"))

    def test_values_are_not_copied(self):
        spans = npuscope.open(SOURCE / "examples/qnn_htp").table("spans")
        _, capsule = spans["start"].__arrow_c_array__()
        array = struct_in(capsule, b"arrow_array", Array).contents
        self.assertEqual(array.buffers[1], spans["start"].to_numpy().ctypes.data)

    def test_an_array_that_was_taken_outlives_all_else(self):
        column = npuscope.open(SOURCE / "examples/qnn_htp").table("spans")["start"]
        expected = column.to_list()
        schema_capsule, array_capsule = column.__arrow_c_array__()
        schema, array = Schema(), Array()
        for capsule, name, into, kind in (
            (schema_capsule, b"arrow_schema", schema, Schema),
            (array_capsule, b"arrow_array", array, Array),
        ):
            source = struct_in(capsule, name, kind)
            ctypes.memmove(ctypes.byref(into), source, ctypes.sizeof(kind))
            source.contents.release = type(source.contents.release)()  # moved, as the specification says
        del column, schema_capsule, array_capsule
        gc.collect()
        self.assertEqual(values_of(schema, array), expected)
        array.release(ctypes.byref(array))
        schema.release(ctypes.byref(schema))

    def test_a_child_that_was_taken_outlives_its_parent(self):
        table = npuscope.open(SOURCE / "examples/qnn_htp").table("spans")
        expected = table["duration"].to_list()
        place = table.columns.index("duration")
        stream = struct_in(capsule := table.__arrow_c_stream__(), b"arrow_array_stream", Stream)
        batch, child = Array(), Array()
        stream.contents.get_next(stream, ctypes.byref(batch))
        source = batch.children[place]
        ctypes.memmove(ctypes.byref(child), source, ctypes.sizeof(Array))
        source.contents.release = type(source.contents.release)()
        batch.release(ctypes.byref(batch))
        del table, capsule
        gc.collect()
        schema = Schema(format=b"l", name=b"duration")
        self.assertEqual(values_of(schema, child), expected)
        child.release(ctypes.byref(child))

    def test_capsules_that_are_not_taken_release_what_they_hold(self):
        ops = npuscope.open(SOURCE / "examples/qnn_htp").ops()
        for _ in range(1000):
            ops.__arrow_c_stream__()
            ops.__arrow_c_schema__()
            ops["work"].__arrow_c_array__()
        gc.collect()
        self.assertEqual(read_stream(ops)[0]["work"], ops["work"].to_list())

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed")
    def test_pyarrow_reads_the_same(self):
        for name in NAMES:
            table = npuscope.open(files_of(name)).table("spans")
            read = pyarrow.table(table)
            read.validate(full=True)
            self.assertEqual(read.to_pydict(), table.to_dict())
            self.assertEqual(read.schema.field("start").metadata[b"unit"].decode(), table["start"].unit)


if __name__ == "__main__":
    unittest.main()

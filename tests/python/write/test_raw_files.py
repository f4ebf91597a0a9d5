"""Raw files from Python: lists of extents and arrays, in both places."""


import numpy as np
import pytest
import tailrace

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: {place}}}
memory: {{budget: 1 MiB}}
storage: {{path: {path}}}
layouts: {{plane: {{type: float64, shape: [4, 6]}}}}
variables: {{temperature: {{layout: plane}}}}
"""


@pytest.fixture(params=["thread", "core"])
def config(request, tmp_path, runtime_directory):
    file = tmp_path / "sim.yaml"
    file.write_text(CONFIG.format(place=request.param, path=tmp_path / "out"))
    return file


def test_rows_of_a_matrix_by_two_clients(config, tmp_path):
    rows, columns = 64, 1000
    matrix = np.random.default_rng(1).random((rows, columns))
    with tailrace.open(config, 0) as first, tailrace.open(config, 1) as second:
        files = [first.open_file("matrix.raw"), second.open_file("matrix.raw")]
        for number, file in enumerate(files):
            half = slice(number * columns // 2, (number + 1) * columns // 2)
            begin = np.arange(rows, dtype=np.uint64) * 8 * columns + 8 * half.start
            extents = np.stack([begin, np.full(rows, 4 * columns, np.uint64)], axis=1)
            part = np.ascontiguousarray(matrix[:, half])
            file.write_list(part, extents)
            back = np.zeros_like(part)
            assert file.read_list(back, extents[::-1]) is back
            assert (back[::-1] == part).all()
        for file in files:
            file.close()
            assert file.closed
    assert (np.fromfile(tmp_path / "out/matrix.raw").reshape(rows, columns) == matrix).all()


def test_bytes_and_modes(config, tmp_path):
    with tailrace.open(config) as out:
        with out.open_file("a.raw") as file:
            file.write(b"0123456789", 0)
            file.write_list(b"xyz", [(8, 2), (0, 1)])
            file.sync()
            assert (tmp_path / "out/a.raw").read_bytes() == b"z1234567xy"
            assert bytes(file.read(bytearray(3), 7)) == b"7xy"
            with pytest.raises(tailrace.Error) as caught:
                file.read(np.zeros(2), 3)
            assert caught.value.operation == "file_read"
            assert caught.value.file == str(tmp_path / "out/a.raw")
            with pytest.raises(tailrace.Error, match="open already"):
                out.open_file("a.raw", "truncate")
        with out.open_file("a.raw", "truncate") as file, pytest.raises(ZeroDivisionError):
            file.write(b"q", 0)
            raise ZeroDivisionError
        with out.open_file("a.raw", "read") as file, pytest.raises(tailrace.Error, match="for reading"):
            file.write(b"q", 0)
        with pytest.raises(tailrace.Error, match="closed"):
            file.sync()
        left_open = out.open_file("b.raw")
    assert left_open.closed
    assert (tmp_path / "out/a.raw").read_bytes() == b"q"


def test_size_truncate_allocate_and_remove(config, tmp_path):
    with tailrace.open(config) as out:
        with out.open_file("a.raw") as file:
            file.write(b"0123456789", 0)
            assert file.size() == 10
            file.truncate(4)
            file.allocate(2, 6)
            assert file.size() == 8
            with pytest.raises(tailrace.Error, match="2\\^62"):
                file.truncate(2**63)
            with pytest.raises(TypeError):
                file.truncate(-1)
            with pytest.raises(tailrace.Error, match="is open"):
                out.remove_file("a.raw")
        assert (tmp_path / "out/a.raw").read_bytes() == b"0123\0\0\0\0"
        out.remove_file("a.raw")
        assert not (tmp_path / "out/a.raw").exists()
        with pytest.raises(tailrace.Error) as caught:
            out.remove_file("a.raw")
        assert caught.value.status == "not found"


def test_what_is_refused(config):
    with tailrace.open(config) as out:
        for path in ("../a", "/a", "", "x/"):
            with pytest.raises(tailrace.Error) as caught:
                out.open_file(path)
            assert caught.value.operation == "file_open"
        with pytest.raises(ValueError, match="mode"):
            out.open_file("a", "w")
        with pytest.raises(tailrace.Error) as caught:
            out.open_file("none", "read")
        assert caught.value.status == "not found"
        with out.open_file("a.raw") as file:
            for data, extents, what in ((b"123", [(0, 2)], "fewer"), (b"123", [(0, 4)], "more"),
                                        (b"1234", [(0, 2), (1, 2)], "overlap"), (b"", [], "no extents"),
                                        (b"12", np.array([[-5, 2]]), "2\\^62"),
                                        (np.zeros((4, 4))[:, ::2], [(0, 64)], "contiguous")):
                with pytest.raises(tailrace.Error, match=what):
                    file.write_list(data, extents)
            with pytest.raises(ValueError, match="pairs"):
                file.write_list(b"123", [(0, 1, 2)])
            with pytest.raises(TypeError):
                file.write("text", 0)
            with pytest.raises(TypeError, match="read-only"):
                file.read(b"123", 0)

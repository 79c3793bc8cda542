import gzip
import io

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from edfkmeans.cli import app, layout
from edfkmeans.cli.opening import read_table
from edfkmeans.cli.reading import BadFileError, read_file
from edfkmeans.cli.streaming import open_stream

FRAME = pd.DataFrame({"a": [1.5, 2.5, 3.0], "b": [4.0, 5.0, 6.25]})


def saved(tmp_path, content, name="table"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1.5,4\n2.5,5\n3,6.25\n",
        "a,b\r\n1.5,4\r\n2.5,5\r\n3,6.25",
        "\n\na,b\n1.5,4\n\n2.5,5\n3,6.25\n",
        "a;b\n1,5;4\n2,5;5\n3;6,25\n",
        "a\tb\n1.5\t4\n2.5\t5\n3\t6.25\n",
        "a|b\n1.5|4\n2.5|5\n3|6.25\n",
        "a b\n1.5  4\n2.5  5\n3  6.25\n",
        '"a", "b"\n"1.5", "4"\n2.5, 5\n3, 6.25\n',
        b"\xef\xbb\xbfa,b\n1.5,4\n2.5,5\n3,6.25\n",
        "a,b\n1.5,4\n2.5,5\n3,6.25\n".encode("utf-16"),
        gzip.compress(b"a,b\n1.5,4\n2.5,5\n3,6.25\n", mtime=0),
    ],
)
def test_text_in_many_forms_is_the_same_table(content, tmp_path):
    frame, _ = read_file(saved(tmp_path, content))
    pd.testing.assert_frame_equal(frame.astype(float), FRAME)


def test_binary_formats(tmp_path):
    for write, name in ((FRAME.to_parquet, "p"), (FRAME.to_feather, "f")):
        write(tmp_path / name)
        pd.testing.assert_frame_equal(read_file(tmp_path / name)[0], FRAME)
    np.save(tmp_path / "a.npy", FRAME.to_numpy())
    np.savez(tmp_path / "a.npz", FRAME.to_numpy())
    np.save(tmp_path / "v.npy", np.arange(4))
    for name in ("a.npy", "a.npz"):
        found, _ = read_file(tmp_path / name)
        np.testing.assert_array_equal(found, FRAME)
        assert found.columns.tolist() == ["column 1", "column 2"]
    assert read_file(tmp_path / "v.npy")[0].shape == (4, 1)


@pytest.mark.parametrize(
    "second, told",
    [
        ("b,a\n1,2\n", "'y.csv has those of x.csv in another order"),
        ("a,b,c\n1,2,3\n", "y.csv has 'c', which x.csv has not. Name one"),
        ("a,d\n1,2\n", "x.csv has 'b', which y.csv has not and y.csv has 'd', which x.csv has"),
        ("a,b\n", None),
        ("", "y.csv is empty"),
    ],
)
def test_files_of_a_folder_that_differ_in_their_columns(second, told, tmp_path):
    saved(tmp_path, "a,b\n1,2\n3,4\n", "x.csv")
    saved(tmp_path, second, "y.csv")
    if told is None:
        assert len(read_file(tmp_path)[0]) == 2
        return
    for read in (read_file, open_stream):
        with pytest.raises(BadFileError) as refused:
            read(str(tmp_path))
        assert told.strip("'") in str(refused.value)


def test_encodings_of_old(tmp_path):
    frame, _ = read_file(saved(tmp_path, "größe,b\n1,2\n3,4\n".encode("cp1252")))
    assert frame.columns.tolist() == ["größe", "b"]


def test_header_or_not(tmp_path):
    frame, notes = read_file(saved(tmp_path, "1,2\n3,4\n5,6\n7,9\n"))
    assert frame.shape == (3, 2)  # a header of 1, 2: names that count
    assert "counts the columns" in notes[0]
    frame, notes = read_file(saved(tmp_path, "1.5,2\n3,4\n5,6\n"))
    assert (frame.shape, frame.columns.tolist()) == ((3, 2), ["column 1", "column 2"])
    assert "taken as a row" in notes[0]
    frame, notes = read_file(saved(tmp_path, "a\n1\n2\n"))
    assert (frame.shape, notes) == ((2, 1), ())


def test_blanks_around_a_name_are_no_part_of_it(tmp_path):
    file = saved(tmp_path, '" who ",a ,b,\n007,1.5,4,1\n008,2.5,5,2\nNA,3,6.25,3\n')
    frame, _ = read_file(file, "who")
    assert frame.columns.tolist() == ["who", "a", "b", "Unnamed: 3"]
    assert frame["who"].tolist() == ["007", "008", "NA"]
    pd.testing.assert_frame_equal(frame[["a", "b"]].astype(float), FRAME)


@pytest.mark.parametrize("more", [0, 500])
def test_text_in_quotation_marks_may_hold_ends_of_lines_and_separators(more, tmp_path):
    rows = ['"x\ny, z, and, more",1.5,4', '"\n\n",2.5,5', "z,3,6.25"] + more * ['"a\n,b",0,0']
    file = saved(tmp_path, '"what\nit is",a,b\n' + "\n".join(rows) + "\n")
    frame, _ = read_file(file)
    assert frame.columns.tolist() == ["what\nit is", "a", "b"]
    assert frame.iloc[:3, 0].tolist() == ["x\ny, z, and, more", "\n\n", "z"]
    pd.testing.assert_frame_equal(frame.iloc[:3, 1:].astype(float), FRAME)


def test_a_stream_is_read_wherever_its_beginning_is_cut(tmp_path):
    """Larger than what is looked at, and than a block of Arrow."""
    pytest.importorskip("fsspec", reason="needs fsspec")
    X = np.random.default_rng(0).normal(size=(40_000, 2)).round(4)
    rows = [f'"größe {a}\n{b}, c",{a},{b}' for a, b in X.tolist()]
    text = "was,a,b\n" + "\n".join(rows) + "\n"
    mark = "\ufeff".encode("utf-16-be")
    ways = {
        "utf-16": text.encode("utf-16"),
        "odd": f" {text}".encode("utf-16"),
        "big-endian": mark + text.encode("utf-16-be"),
        "cp1252": text.encode("cp1252"),
        "utf-8": text.encode(),
    }
    for way, content in ways.items():
        table, _ = open_stream(str(saved(tmp_path, content, f"{way}.csv")))
        assert table.schema.names == ["was", "a", "b"], way
        np.testing.assert_array_equal(table.to_table().drop(["was"]).to_pandas(), X, way)


def test_decimal_comma_is_told(tmp_path):
    assert read_file(saved(tmp_path, "a;b\n1,5;4\n2,5;5\n"))[1] == (
        "Numbers are written with a decimal comma.",
    )


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def pickled():
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content, message",
    [
        ("  \n ", "is empty"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields and the first 2"),
        ("a\tb\nx\t1\t2\ny\t3\t4\n", "line 2 has 3 fields .* write.table, .* col.names = NA"),
        ("Cars\n\na,b,c\n1,2,3\n", "line 3 has 3 fields and the first 1.* further down, delete"),
        ('a,"b\nc"\n"1\n2",3\n4,5,6\n', "line 5 has 3 fields and the first 2"),
        ("a,b\n" + "1,2\n" * 500 + "3,4,5\n", "Expected 2 fields in line 502, saw 3"),
        ('a,b\n1,2\n"3,4\n', "A quotation mark is not closed"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9], "cannot be unpacked"),
        (b"PAR1 and no more", "could not be read as parquet"),
        (b"ARROW1 and no more", "could not be read as feather"),
        (b"PK\x03\x04 and no more", "is a zip archive. Unpack it."),
        (b"PK\x03\x04 a.npy and no more", "could not be read as a NumPy array"),
        ('[{"a": 1}]', "looks like JSON or a web page"),
        (npz(a=np.eye(2), b=np.eye(3)), "holds 2 arrays: 'a', 'b'"),
        (npz(a=np.zeros((2, 2, 2))), "an array of 3 dimensions and type float64"),
        (npz(a=np.array(["x", "y"])), "type <U1"),
        (pickled(), "could not be read as a NumPy array"),
        (bytes(range(256)), "is not a table in text"),
    ],
)
def test_bad_files_are_refused_with_a_reason(content, message, tmp_path):
    with pytest.raises(BadFileError, match=message):
        read_file(saved(tmp_path, content))


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u2009", "\u200e"])
def test_blanks_of_any_kind_are_text(blank, tmp_path):
    rows = "".join(f"{i};{i}{blank}000;x{blank}y\n" for i in range(50))
    file = saved(tmp_path, f"a;b;c\n{rows}")
    frame, _ = read_file(file)
    assert frame["b"].tolist() == [f"{i}{blank}000" for i in range(50)]
    assert open_stream(str(file.rename(tmp_path / "t.csv")))[0].schema.names == ["a", "b", "c"]


@pytest.mark.parametrize("marks", [2, 3])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_several_byte_order_marks_are_no_part_of_a_name(marks, encoding, tmp_path):
    file = saved(tmp_path, ("\ufeff" * marks + "a,b\n1,2\n").encode(encoding), "t.csv")
    assert read_file(file)[0].to_dict("list") == {"a": [1], "b": [2]}
    assert open_stream(str(file))[0].schema.names == ["a", "b"]


@pytest.mark.parametrize(
    "header, names",
    [
        ("Unnamed: 1,", ["Unnamed: 1", "Unnamed: 1.1"]),
        (",Unnamed: 0", ["Unnamed: 0.1", "Unnamed: 0"]),
        (",", ["Unnamed: 0", "Unnamed: 1"]),
        ("Unnamed: 2,Unnamed: 2.1,", ["Unnamed: 2", "Unnamed: 2.1", "Unnamed: 2.1.1"]),
    ],
)
def test_columns_without_a_name_take_one_that_is_free(header, names, tmp_path):
    row = ",".join("12345"[: len(names)])
    assert read_file(saved(tmp_path, f"{header}\n{row}\n"))[0].columns.tolist() == names


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_numbers_of_two_bytes_are_reckoned_with(kind, tmp_path):
    frame = FRAME.astype(np.float16) * 1000
    file = tmp_path / f"t.{kind}"
    if kind == "npy":
        np.save(file, frame.to_numpy())
    else:
        frame.to_parquet(file)
    prepared, _ = read_table(str(file))
    np.testing.assert_allclose(prepared.X.std(axis=0), 1)


def test_none_among_words_is_one_of_them(tmp_path):
    text = "who,bags,size,member,day\nNone,None,None,None,None\nb,front,2,True,2024-01-01\n"
    text += "c,,3,False,2024-01-02\n"
    for named in (None, "who"):
        frame, notes = read_file(saved(tmp_path, text.encode()), named)
        assert frame["bags"].fillna("").tolist() == ["None", "front", ""]
        assert frame["who"][0] == "None"
        assert frame[["size", "member", "day"]].isna().sum().tolist() == [1, 1, 1]
        words = "'bags'" if named else "'who', 'bags'"
        assert notes == (f"'None' in {words} is read as one of the values, not as missing.",)
    alone = saved(tmp_path, b"x,bags\n1,None\n2,None\n")
    assert read_file(alone)[0]["bags"].isna().all()
    assert read_file(alone, words=["bags"])[0]["bags"].tolist() == ["None", "None"]


def test_what_is_missing_is_what_pandas_says():
    from pandas._libs.parsers import STR_NA_VALUES

    assert set(layout.GAPS) == STR_NA_VALUES


CLEAR = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i % 97) for i in range(40_000))
PACKED = gzip.compress(CLEAR, 1, mtime=0)  # else every process has tests of other names


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]


@pytest.mark.parametrize(
    "content",
    [
        PACKED[:5], PACKED[: len(PACKED) // 2], PACKED[:-3], flipped(PACKED, 0),
        flipped(PACKED, 20), flipped(PACKED, len(PACKED) // 2), flipped(PACKED, -6), CLEAR[:99],
    ],
)  # fmt: skip
def test_a_stream_of_packed_text_that_is_not_whole_is_refused(content, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    file = saved(tmp_path, content, "t.csv.gz")
    said = CliRunner().invoke(app, ["select", str(file), "--engine", "arrow", "--k-max", "2"])
    assert said.exit_code == 2, said.output
    told = said.output.replace("\n", "")
    assert "t.csv.gz" in told
    assert "Is the file whole?" in told or "Is it whole" in told
    (tmp_path / "many").mkdir()
    file.rename(tmp_path / "many" / "t.csv.gz")
    saved(tmp_path / "many", b"a,b\n1,2\n", "u.csv")
    with pytest.raises(BadFileError, match=r"t\.csv\.gz|Are all files whole"):
        read_file(tmp_path / "many")

"""Excel files: which sheet, where the names are, and what cannot be read."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from edfkmeans.cli import workbook
from edfkmeans.cli.opening import read_table
from edfkmeans.cli.reading import BadFileError, read_file

pytest.importorskip("openpyxl", reason="needs openpyxl")


def write(file, **sheets):
    with pd.ExcelWriter(file) as book:
        for name, frame in sheets.items():
            frame.to_excel(book, sheet_name=name, index=False, header=frame.columns[0] != 0)
    return file


FRAME = pd.DataFrame({
    "who": ["007", "=1+1", "c"], "x": [1.5, 2.5, None], "n": [1, 2, 3],
    "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01"]),
})  # fmt: skip


def test_a_sheet_is_what_was_written(tmp_path):
    file = write(tmp_path / "t.xlsx", People=FRAME, Other=FRAME[["n"]])
    frame, notes = read_file(file, "who")
    assert frame["who"].tolist()[0] == "007"
    pd.testing.assert_frame_equal(frame[["x", "n"]], FRAME[["x", "n"]])
    assert (frame["day"].to_numpy() == FRAME["day"].to_numpy()).all()
    assert notes == ("The first of 2 sheets, 'People'; --sheet takes another: 'Other'.",)
    other, notes = read_file(file, sheet="Other")
    assert (other["n"].tolist(), notes) == ([1, 2, 3], ())


def test_a_refused_first_sheet_names_the_others(tmp_path):
    about = pd.DataFrame({"readme": ["what this is"]})
    file = write(tmp_path / "t.xlsx", About=about, Data=FRAME[["n"]])
    with pytest.raises(BadFileError, match=r"not numbers: 'readme'.*another: 'Data'\.$"):
        read_table(str(file))
    assert len(read_table(str(file), sheet="Data")[0].X) == 3


def test_empty_rows_and_columns_and_no_names(tmp_path):
    padded = pd.DataFrame([[None] * 3, [None, "a", "b"], [None] * 3, [None, 1, 2], [None, 3, 4]])
    frame, _ = read_file(write(tmp_path / "t.xlsx", S=padded))
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    bare, notes = read_file(write(tmp_path / "b.xlsx", S=pd.DataFrame(np.eye(3))))
    assert (bare.shape, bare.columns[0]) == ((3, 3), "column 1")
    assert "The first row holds numbers only" in notes[0]


def test_what_cannot_be_read(tmp_path, monkeypatch):
    file = write(tmp_path / "t.xlsx", S=FRAME)
    with pytest.raises(BadFileError, match=r"no such sheet\. It has 'S'"):
        read_file(file, sheet="T")
    empty = write(tmp_path / "e.xlsx", S=pd.DataFrame(columns=["a"]).iloc[:, :0].assign(**{"": []}))
    with pytest.raises(BadFileError, match="has an empty sheet"):
        read_file(empty)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadFileError, match=r"is no Excel file\. Leave --sheet out"):
        read_file(tmp_path / "t.csv", sheet="S")
    twice = write(tmp_path / "w.xlsx", S=pd.DataFrame([["a", "a"], [1, 2]]))
    with pytest.raises(BadFileError, match="2 columns named 'a'"):
        read_file(twice)
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    with pytest.raises(BadFileError, match=r"old Excel file\. Save it as \.xlsx"):
        read_file(tmp_path / "old.xls")
    broken = io.BytesIO()
    with zipfile.ZipFile(broken, "w") as archive:
        archive.writestr("xl/workbook.xml", "<no")
    (tmp_path / "broken.xlsx").write_bytes(broken.getvalue())
    with pytest.raises(BadFileError, match="could not be read as an Excel file"):
        read_file(tmp_path / "broken.xlsx")
    monkeypatch.setattr(workbook, "_MOST_BYTES", 100)
    with pytest.raises(BadFileError, match="Save the sheet as CSV"):
        read_file(file)


def test_rows_of_errors_are_rows(tmp_path):
    errors = [["#N/A", "#DIV/0!"], [None, None], ["#REF!", None]]
    rows = [errors[0], ["a", "b"], [1, 2], *errors, [5, "#NAME?"], ["NA", 6], errors[0]]
    frame, _ = read_file(write(tmp_path / "t.xlsx", S=pd.DataFrame(rows)))
    assert frame["a"].fillna(0).tolist() == [1, 0, 0, 5, 0, 0]
    assert frame["b"].fillna(0).tolist() == [2, 0, 0, 0, 6, 0]
    only = write(tmp_path / "o.xlsx", S=pd.DataFrame([errors[0]] * 3))
    with pytest.raises(BadFileError, match="has an empty sheet"):
        read_file(only)


def test_ids_that_are_called_na(tmp_path):
    frame = FRAME[["x", "n"]].assign(who=["NA", "b", None])
    assert read_file(write(tmp_path / "t.xlsx", S=frame), "who")[0]["who"].tolist()[0] == "NA"


@pytest.mark.parametrize("drawn", [True, False])
def test_a_sheet_that_is_a_chart_is_no_table(drawn, tmp_path):
    import openpyxl
    from openpyxl.chart import BarChart, Reference

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["a", "b"], [1, 2], [3, 4]):
        sheet.append(row)
    chart = book.create_chartsheet("Chart", 0)
    if drawn:
        bars = BarChart()
        bars.add_data(Reference(sheet, min_col=1, min_row=1, max_row=3))
        chart.add_chart(bars)
    book.save(tmp_path / "t.xlsx")
    assert read_file(tmp_path / "t.xlsx")[0].to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    with pytest.raises(BadFileError, match=r"no such sheet\. It has 'Sheet'"):
        read_file(tmp_path / "t.xlsx", sheet="Chart")


@pytest.mark.parametrize("name", ["t.xlsx", "t"])
def test_other_workbooks_are_told_what_they_are(name, tmp_path):
    content = write(tmp_path / "w.xlsx", S=FRAME).read_bytes()
    kinds = {
        content[: len(content) // 2]: "an Excel file that is not whole",
        packed({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}): "OpenDocument",
        packed({"xl/workbook.bin": ""}): "a binary Excel file",
        packed({"a.csv": "x,y"}): r"a zip archive\. Unpack it",
        b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"): "protected by a password",
    }
    for each, told in kinds.items():
        (tmp_path / name).write_bytes(each)
        with pytest.raises(BadFileError, match=told):
            read_file(tmp_path / name)


def packed(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()

"""Sheets of Excel workbooks, through openpyxl: a table of edges or an adjacency matrix."""

from __future__ import annotations

import csv
import io
import zipfile

from jaxmotif.arrays._extras import load_extra
from jaxmotif.io._edge_list import read_csv
from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._matrix import is_matrix, read_matrix
from jaxmotif.io._text import TextFile


def read_workbook(file: TextFile, options: Options) -> Contents:
    """Read the first sheet of a workbook as the CSV file that it would be saved as, with the values of formulas."""
    openpyxl = load_extra("openpyxl", f"{file.path}: Excel's workbooks need")
    data, text = file.data(), io.StringIO()
    with file.refuse_damage("this workbook cannot be read"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            file.check_growth(sum(entry.file_size for entry in archive.infolist()), len(data))
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows(  # a row that begins with # is no comment
            [_word(value) for value in row]
            for row in sheet.iter_rows(values_only=True)
            if any(x is not None for x in row)
        )
    with TextFile(f"{file.path}, sheet {sheet.title}", data=text.getvalue().encode()) as rows:
        matrix = options.columns is None and is_matrix(Sample(rows))
        contents = (read_matrix if matrix else read_csv)(rows, options)
    others = ", ".join(other.title for other in book.worksheets[1:])
    note = (f"sheet {sheet.title!r} was read, and not {others[:100]}",) if others else ()
    return contents._replace(notes=(*contents.notes, *note), format="xlsx")


def _word(value: object) -> str:
    """Return a cell as text; whole numbers, which Excel keeps as floats of 15 digits, are without a point."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


FORMATS = {
    "xlsx": Reader(
        read_workbook,
        lambda sample: sample.magic.startswith(b"PK\x03\x04") and sample.has_suffix((".xlsx", ".xlsm")),
        "bytes",
    )
}

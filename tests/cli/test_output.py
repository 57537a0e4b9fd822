"""What commands print is safe to show, whatever pages put into it."""

import csv
import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli import output

ANY_TEXT = st.text(st.characters())


@given(ANY_TEXT)
def test_plain_text_commands_no_terminal(text: str) -> None:
    shown = output.plain(text)
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs"}]
    assert output.plain(shown) == shown
    shown.encode()  # nothing that UTF-8 can't say


def test_plain_keeps_every_script_and_folds_lines() -> None:
    assert output.plain("日本語\nفارسی‌ها é 👩‍💻") == "日本語 فارسی‌ها é 👩‍💻"
    assert output.plain("\x1b]0;owned\x07red\x1b[31m \u202egnp.exe") == "]0;ownedred[31m gnp.exe"


@given(st.dictionaries(ANY_TEXT, ANY_TEXT | st.integers() | st.none() | st.booleans()))
def test_json_reads_back_and_shows_no_control_characters(value: dict[str, object]) -> None:
    text = output.json_text(value)
    assert json.loads(text) == value
    assert text == output.plain(text)


def test_table_aligns_wide_characters_and_streams(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[output.Row] = [{"url": "http://a/", "title": "漢字"}, {"url": "http://bb/", "title": None}]
    output.write_rows("table", ["title", "url"], rows)
    assert capsys.readouterr().out == "title  url\n漢字   http://a/\n       http://bb/\n"


def test_table_keeps_long_cells_whole_after_the_sample(capsys: pytest.CaptureFixture[str]) -> None:
    output.write_rows("table", ["n", "x"], ({"n": "1" * (1 + i // 1000), "x": i} for i in range(2001)))
    assert capsys.readouterr().out.splitlines()[-1] == "111  2000"


def test_csv_is_safe_to_open_in_a_spreadsheet(capsys: pytest.CaptureFixture[str]) -> None:
    values = ['=HYPERLINK("http://evil/")', "+1", "-2", "\x00@x", "plain, with comma", "two\nlines", -5, None, True]
    output.write_rows("csv", ["value"], ({"value": value} for value in values))
    read = [row[0] if row else "" for row in csv.reader(io.StringIO(capsys.readouterr().out, newline=""))]
    expected = ["value", '\'=HYPERLINK("http://evil/")', "'+1", "'-2", "'@x", "plain, with comma", "two lines", "-5"]
    assert read == [*expected, "", "yes"]


def test_jsonl_has_every_field_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    output.write_rows("jsonl", ["url", "status"], [{"status": 200, "url": "é"}, {"url": "x", "more": 1}])
    assert capsys.readouterr().out == '{"url": "é", "status": 200}\n{"url": "x", "status": null}\n'


def test_pairs_and_lines(capsys: pytest.CaptureFixture[str]) -> None:
    output.write_pairs([("waiting", 3), ("state", "x\x1b[0m"), ("none", None)])
    output.write_line("a\x07b")
    output.say("beside\x00")
    captured = capsys.readouterr()
    assert captured.out == "waiting  3\nstate    x[0m\nnone\nab\n"
    assert captured.err == "beside\n"


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 kB"), (2_500_000, "2.5 MB"), (5e13, "50.0 TB")]
)
def test_sizes_for_people(size: float, text: str) -> None:
    assert output.size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.44, "0.4 s"), (60, "1 min"), (125, "2 min 5 s"), (97200, "1 d 3 h"), (3600, "1 h")]
)
def test_durations_for_people(seconds: float, text: str) -> None:
    assert output.duration_text(seconds) == text

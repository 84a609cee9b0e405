from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost_service_files.encoding import decode, encode, is_binary


@given(st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-16")))
def test_any_bytes_come_back_the_same(data: bytes) -> None:
    text, encoding, bom = decode(data)

    assert bom + encode(text, encoding) == data


@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        ("plain", "ascii", "utf-8"),
        ("größer", "utf-8", "utf-8"),
        ("// testar operações\nbegin\n", "cp1252", "cp1252"),
        ("これは日本語の文章です。\n" * 3, "shift_jis", "cp932"),
        ("这是一个用于测试的中文文件。\n" * 3, "gbk", "gb18030"),
        ("Это файл на русском языке.\n" * 3, "cp1251", "cp1251"),
        ("no mark at all\n", "utf-16-le", "utf-16-le"),
        ("no mark at all\n", "utf-16-be", "utf-16-be"),
    ],
)
def test_the_encoding_is_told_from_the_bytes(text: str, encoding: str, found: str) -> None:
    assert decode(text.encode(encoding)) == (text, found, b"")


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode("hi".encode("utf-8-sig")) == ("hi", "utf-8", b"\xef\xbb\xbf")
    assert decode(b"\xff\xfeh\0i\0") == ("hi", "utf-16-le", b"\xff\xfe")


def test_a_stray_byte_does_not_make_a_utf8_file_latin() -> None:
    text, encoding, _ = decode("résumé\nbad:".encode() + b"\xff\n")

    assert (text.splitlines()[0], encoding) == ("résumé", "utf-8")


def test_nul_bytes_are_binary_unless_they_are_utf16() -> None:
    assert is_binary(bytes(range(256)))
    assert not is_binary("wide text".encode("utf-16-le"))
    assert not is_binary(b"\xff\xfe\0\0")
    assert not is_binary(b"text")

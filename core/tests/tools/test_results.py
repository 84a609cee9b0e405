from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost import ToolResultBlock
from toolpost_core.tools.results import MESSAGE_CHARS, PREVIEW_CHARS, ResultStore, size_of, with_text


def block(content: object, name: str = "toolu_1") -> ToolResultBlock:
    return {"type": "tool_result", "tool_use_id": name, "content": content}  # type: ignore[typeddict-item]


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


def test_a_result_within_its_limit_stays_as_it_is(tmp_path: Path) -> None:
    result = block("x" * 10)

    assert ResultStore(tmp_path).fit(result, 10, "T") is result
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("pipeline.empty_result_has_text")
@pytest.mark.parametrize("content", ["", [], "  \n", [{"type": "text", "text": ""}], [{"type": "text", "text": " \n"}]])
def test_a_result_without_text_or_picture_says_so(tmp_path: Path, content: object) -> None:
    fitted = ResultStore(tmp_path).fit(block(content), 100, "Bash")

    assert fitted["content"] == "(Bash completed with no output)"


def test_an_empty_text_beside_a_picture_is_left_out(tmp_path: Path) -> None:
    fitted = ResultStore(tmp_path).fit(block([{"type": "text", "text": ""}, PICTURE]), 100, "Read")

    assert fitted["content"] == [PICTURE]


@pytest.mark.requirement("results.large_goes_to_a_file")
def test_the_preview_ends_at_a_line_and_names_the_whole(tmp_path: Path) -> None:
    text = "".join(f"{n:06d}\n" for n in range(1_000))
    content = ResultStore(tmp_path / "deep" / "er").fit(block(text), 5_000, "T")["content"]
    (file,) = (tmp_path / "deep" / "er").iterdir()

    assert file.read_bytes().decode() == text
    assert isinstance(content, str)
    assert str(file) in content
    shown = content.split("\n\n", 1)[1].removesuffix("\n...")
    assert text.startswith(shown + "\n")
    assert PREVIEW_CHARS // 2 < len(shown) <= PREVIEW_CHARS


def test_a_text_of_one_line_is_cut_at_the_limit(tmp_path: Path) -> None:
    assert len(str(ResultStore(tmp_path).fit(block("x" * 9_000), 5_000, "T")["content"])) < PREVIEW_CHARS + 500


def test_line_ends_are_kept_in_the_file(tmp_path: Path) -> None:
    ResultStore(tmp_path).fit(block("a\r\nb\rc\n" * 2_000), 100, "T")

    assert next(tmp_path.iterdir()).read_bytes() == b"a\r\nb\rc\n" * 2_000


def test_pictures_stay_beside_the_preview(tmp_path: Path) -> None:
    fitted = ResultStore(tmp_path).fit(block([{"type": "text", "text": "x" * 9_000}, PICTURE]), 5_000, "T")

    assert isinstance(fitted["content"], list)
    assert [part["type"] for part in fitted["content"]] == ["text", "image"]


def test_an_id_that_is_no_file_name_stays_inside_the_folder(tmp_path: Path) -> None:
    ResultStore(tmp_path / "results").fit(block("x" * 9_000, "../../etc/passwd"), 100, "T")

    assert [path.parent for path in tmp_path.rglob("*.txt")] == [tmp_path / "results"]


def test_ids_that_differ_do_not_share_a_file(tmp_path: Path) -> None:
    store = ResultStore(tmp_path)
    for name, letter in (("a.b", "x"), ("a_b", "y"), ("A_b", "z")):
        store.fit(block(letter * 9_000, name), 100, "T")

    assert sorted(path.read_text()[0] for path in tmp_path.iterdir()) == ["x", "y", "z"]


def test_the_same_id_again_does_not_destroy_what_was_kept_for_it(tmp_path: Path) -> None:
    store = ResultStore(tmp_path)
    first = store.fit(block("x" * 9_000), 100, "T")
    second = store.fit(block("y" * 9_000), 100, "T")

    for fitted, letter in ((first, "x"), (second, "y")):
        (named,) = [path for path in tmp_path.iterdir() if f"{path};" in str(fitted["content"])]
        assert named.read_text() == letter * 9_000


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user that file modes hold for")
def test_where_nothing_can_be_kept_the_model_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    fitted = ResultStore(tmp_path / "results").fit(block("x" * 9_000), 100, "T")

    assert "lost" in str(fitted["content"])


def test_without_a_folder_the_model_is_told_that_the_rest_is_lost() -> None:
    assert "lost" in str(ResultStore(None).fit(block("x" * 9_000), 100, "T")["content"])


def test_a_lone_surrogate_does_not_keep_a_result_from_its_file(tmp_path: Path) -> None:
    ResultStore(tmp_path).fit(block("\ud83d" + "x" * 9_000), 100, "T")

    assert len(next(tmp_path.iterdir()).read_bytes()) >= 9_000


@pytest.mark.requirement("results.message_cap")
def test_over_the_limit_of_a_message_the_largest_go_first(tmp_path: Path) -> None:
    sizes = [90_000, 40_000, 95_000, 10_000]
    blocks = [block("x" * size, f"t{n}") for n, size in enumerate(sizes)]
    fitted = ResultStore(tmp_path).fit_message(blocks)

    assert [one is two for one, two in zip(blocks, fitted, strict=True)] == [True, True, False, True]
    assert sum(map(size_of, fitted)) <= MESSAGE_CHARS


@pytest.mark.requirement("results.message_cap")
@given(st.lists(st.integers(0, 120_000), max_size=30))
def test_the_results_of_a_message_never_exceed_the_limit(sizes: list[int]) -> None:
    fitted = ResultStore(None).fit_message([block("x" * size, f"t{n}") for n, size in enumerate(sizes)])

    assert sum(map(size_of, fitted)) <= MESSAGE_CHARS
    assert [one["tool_use_id"] for one in fitted] == [f"t{n}" for n in range(len(sizes))]


@pytest.mark.requirement("results.replaced_once_stays")
def test_a_preview_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    store = ResultStore(tmp_path)
    first, second = (store.fit(block("x\n" * 9_000), 100, "T") for _ in range(2))

    assert first == second


def test_a_note_follows_text_and_blocks() -> None:
    assert with_text(block("a"), "b")["content"] == "a\n\nb"
    assert with_text(block([PICTURE]), "b")["content"] == [PICTURE, {"type": "text", "text": "b"}]

"""The contract kit of settings sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, get_args

import pytest

from toolpost.errors import SettingsError
from toolpost.settings import SettingsDocument, SettingsLevel
from toolpost.testing._contract import PluginContract


class SettingsSourceContract(PluginContract):
    """The suite for a settings source.

    `files` give it something to find in the project; `broken` replaces some of them by what can't be read.
    """

    group = "settings_sources"
    broken: ClassVar[Mapping[str, str]] = {}

    def test_its_documents_are_json_and_say_their_file(self, folder: Path) -> None:
        """If this fails: return plain JSON values, and the file that a person has to mend."""
        documents = self._documents(folder)
        assert documents, "with `files` in the folder the source finds nothing"
        for document in documents:
            json.dumps(dict(document.values))
            assert document.file is None or document.file.is_absolute(), f"{document.file} is not absolute"
            assert document.level in get_args(SettingsLevel), f"{document.level!r} is no level"

    def test_nothing_to_find_is_no_error(self, tmp_path: Path) -> None:
        """If this fails: a project without the files has no documents, or those that do not come from the project."""
        empty = tmp_path / "empty"
        empty.mkdir()
        self._documents(empty)

    def test_a_broken_file_is_named(self, folder: Path) -> None:
        """If this fails: raise SettingsError with the file's path for a file that can't be used."""
        for name, text in self.broken.items():
            (folder / name).write_text(text, encoding="utf-8")
            with pytest.raises(SettingsError, match=Path(name).name):
                self._documents(folder)

    def _documents(self, folder: Path) -> Sequence[SettingsDocument]:
        home = folder.parent / "home"
        documents: Sequence[SettingsDocument] = self.make().documents(folder, home, {"HOME": str(home)})
        return documents

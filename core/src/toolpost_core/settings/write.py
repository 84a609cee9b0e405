"""Writing settings back: atomically, under a lock, with unknown keys and order kept."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from toolpost import SettingsError
from toolpost.permissions import Behavior
from toolpost_core.settings.document import Unusable, parse_document, read_document

LOCK_SECONDS: Final = 10.0


def set_value(file: Path, key: Sequence[str], value: Any) -> None:
    """Set the value at a path of keys; None removes it. Raises SettingsError and changes nothing."""
    with changed(file) as content:
        holder = content
        for part in key[:-1]:
            holder = holder.setdefault(part, {})
            if not isinstance(holder, dict):
                path = ".".join(key)
                raise SettingsError(f"{file}: {part!r} is no object, so {path} can't be set. Mend the file first.")
        if value is None:
            holder.pop(key[-1], None)
        else:
            holder[key[-1]] = value


def edit_permissions(
    file: Path,
    key: Behavior | Literal["additionalDirectories"],
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    replace: bool = False,
) -> bool:
    """Add to and remove from a list of `permissions`; `replace` drops what was there. Return whether anything changed.

    Raises SettingsError and changes nothing.
    """
    with changed(file) as content:
        permissions = content.get("permissions", {})
        before = permissions.get(key, []) if isinstance(permissions, dict) else None
        if not isinstance(before, list):
            raise SettingsError(f"{file}: permissions.{key} is no list of texts. Mend the file first.")
        texts = [text for text in before if not replace and text not in remove]
        texts += [text for text in dict.fromkeys(add) if text not in texts]
        if texts != before:
            content["permissions"] = {**permissions, key: texts}
        return texts != before


@contextmanager
def changed(file: Path) -> Iterator[dict[str, Any]]:
    """Hand out a file's content and write back what became of it; an error inside writes nothing.

    Raises SettingsError for a file that does not parse, that can't be written, or that another process keeps locked.
    """
    from filelock import FileLock, Timeout

    target = Path(os.path.realpath(file))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f".{target.name}.lock"), timeout=LOCK_SECONDS):
            text, content = _content(target)
            before = json.dumps(content)
            yield content
            if json.dumps(content) != before:
                _replace(target, _formatted(content, text))
    except Timeout as error:
        said = f"{file}: another process has held its lock for {LOCK_SECONDS:.0f} s. Try again."
        raise SettingsError(said) from error
    except OSError as error:
        raise SettingsError(f"{file}: it can't be written: {error.strerror or error}.") from error


def _content(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        document = read_document("user", file)
    except Unusable as error:
        raise SettingsError(f"{error}. Nothing was written: mend the file first.") from error
    return ("", {}) if document is None else (document.text, json.loads(document.text))


def _formatted(content: dict[str, Any], like: str) -> str:
    indent = re.search(r"^([ \t]+)\S", like, re.MULTILINE)
    text = json.dumps(content, ensure_ascii=False, indent=indent[1] if indent else 2) + "\n"
    parse_document("user", text)
    return text


def _replace(file: Path, text: str) -> None:
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o600
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor, not a path
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        scratch.chmod(mode)
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""`toolpost --rewind-files`: files go back to what they were before a message, and nothing else is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from toolpost import SessionError
from toolpost_core.cli.exits import complain
from toolpost_core.cli.output import one_line, print_json, print_table
from toolpost_core.cli.usage import UsageMistake

if TYPE_CHECKING:
    from toolpost import FileRewind, LaunchOptions, Rewound, SentPrompt
    from toolpost_core.session.session import Session

GOES: Final[Mapping[str, str]] = {"changed": "changed back", "created": "deleted", "deleted": "made anew"}
"""What rewinding does to a file, by what became of it."""
LISTED: Final = 10


def check(values: Mapping[str, Any], words: Sequence[str]) -> None:
    """Check the flags that belong together. Raises UsageMistake."""
    if "rewind_files" not in values:
        for key in ("force", "dry_run"):
            if key in values:
                raise UsageMistake(f"--{key.replace('_', '-')} goes with --rewind-files.")
        return
    if "resume" not in values and "continue_last" not in values:
        raise UsageMistake("--rewind-files goes with --resume or --continue, which say of which session.")
    if words:
        raise UsageMistake("--rewind-files takes no prompt: it sets the files back and exits.")
    if values.get("output_format") == "stream-json":
        raise UsageMistake("--rewind-files prints text or json, not stream-json.")


async def rewind_files(options: LaunchOptions, values: Mapping[str, Any]) -> int:
    """Rewind, or say what would be done; returns the exit code. Raises SessionError, MissingService."""
    from toolpost_core.api import open_session

    target, force, dry = values["rewind_files"], bool(values.get("force")), bool(values.get("dry_run"))
    async with open_session(options, need_model=False) as session:
        try:
            planned = await session.plan_rewind(target)
        except SessionError as error:
            raise SessionError("\n".join([str(error), *_known(session.sent_prompts())])) from None
        by_hand = [file for file in planned if file.by_hand and not file.problem]
        if by_hand and not force:
            if dry and options.output_format == "text":
                _show(options, planned, None)
            return _refuse(options, planned, by_hand)
        if dry:
            _show(options, planned, None)
            return 0
        return await _rewind(session, options, target, force=force)


async def _rewind(session: Session, options: LaunchOptions, target: str, *, force: bool) -> int:
    rewound = await session.rewind_files(target, force=force)
    _show(options, (*rewound.files, *rewound.left), rewound)
    if rewound.id and options.output_format == "text":
        complain(f"to undo this: toolpost --resume {session.id} --rewind-files {rewound.id}")
    return 0


def _refuse(options: LaunchOptions, planned: Sequence[FileRewind], by_hand: Sequence[FileRewind]) -> int:
    lines = "\n".join(f"  {file.path}: {file.by_hand}" for file in by_hand)
    told = "Nothing was rewound, as that would undo changes that may not be the session's:"
    text = f"{told}\n{lines}\nTo do it all the same: --force"
    if options.output_format == "json":
        print_json({"canRewind": False, "error": text, **_values(planned)})
    complain(text)
    return 1


def _show(options: LaunchOptions, files: Sequence[FileRewind], rewound: Rewound | None) -> None:
    if options.output_format == "json":
        done = {"rewindId": rewound.id} if rewound is not None and rewound.id else {}
        print_json({"canRewind": True, **done, **_values(files)})
        return
    print_table(("FILE", "REWOUND BY BEING", "LINES"), [_row(file) for file in files], "All files are as they were.")


def _row(file: FileRewind) -> tuple[str, str, str]:
    if file.problem:
        return str(file.path), f"left as it is: {file.problem}", ""
    by_hand = f" ({file.by_hand})" if file.by_hand else ""
    lines = "no text" if file.added is None else f"+{file.added} -{file.removed}"
    return str(file.path), GOES[file.change] + by_hand, lines


def _values(files: Sequence[FileRewind]) -> dict[str, Any]:
    """What a program is told, in the names of the control request `rewind_files` and with each file."""
    done = [file for file in files if not file.problem]
    return {
        "filesChanged": [str(file.path) for file in done],
        "insertions": sum(file.added or 0 for file in done),
        "deletions": sum(file.removed or 0 for file in done),
        "files": [
            {
                "path": str(file.path),
                "change": file.change,
                "added": file.added,
                "removed": file.removed,
                "byHand": file.by_hand or None,
                "problem": file.problem or None,
            }
            for file in files
        ],
    }


def _known(prompts: Sequence[SentPrompt]) -> Iterator[str]:
    """Yield lines that name the session's last prompts."""
    if prompts:
        yield "Its last prompts:"
    for prompt in prompts[-LISTED:]:
        yield f"  {prompt.id}  {prompt.time[:16].replace('T', ' ')}  {one_line(prompt.text)[:60]}"

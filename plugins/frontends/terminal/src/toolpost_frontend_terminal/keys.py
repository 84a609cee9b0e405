"""What each key does."""

from __future__ import annotations

from os.path import commonprefix
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from .commands import completions
from .dialog import Dialog

if TYPE_CHECKING:
    from prompt_toolkit.filters import Filter

    from .asked import Outcome
    from .menu import Menu
    from .screen import Screen


def bindings(screen: Screen, asking: Filter) -> KeyBindings:
    """Return the bindings: those of the input line, and those of a question."""
    keys = KeyBindings()
    _input_keys(keys, screen, ~asking & ~is_searching)
    _question_keys(keys, screen, asking)

    @keys.add("c-z")
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    return keys


def _input_keys(keys: KeyBindings, screen: Screen, typing: Filter) -> None:
    busy = Condition(lambda: screen.is_busy)
    deaf = Condition(lambda: not screen.reads)
    empty = Condition(lambda: not screen.input.text)

    @keys.add("enter", filter=typing & ~deaf)
    def _send(event: KeyPressEvent) -> None:
        if event.current_buffer.document.char_before_cursor == "\\":
            event.current_buffer.delete_before_cursor()
            event.current_buffer.newline(copy_margin=False)
        else:
            screen.send()

    @keys.add(Keys.Any, filter=typing & deaf)
    @keys.add(Keys.BracketedPaste, filter=typing & deaf)
    @keys.add("enter", filter=typing & deaf)
    def _ignore(event: KeyPressEvent) -> None:
        del event

    @keys.add("escape", "enter", filter=typing & ~deaf)
    @keys.add("c-j", filter=typing & ~deaf)
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("up", filter=typing & ~deaf & empty & Condition(lambda: screen.has_waiting))
    def _edit_waiting(event: KeyPressEvent) -> None:
        del event
        screen.edit_waiting()

    @keys.add("escape", filter=typing & busy)
    def _stop(event: KeyPressEvent) -> None:
        del event
        screen.interrupt()

    @keys.add("escape", "escape", filter=typing & ~busy & ~deaf & empty)
    def _rewind(event: KeyPressEvent) -> None:
        event.current_buffer.text = "/rewind"
        screen.send()

    @keys.add("c-c", filter=typing)
    @keys.add(Keys.SIGINT, filter=typing)
    def _break(event: KeyPressEvent) -> None:
        del event
        if screen.is_busy:
            screen.interrupt()
        elif screen.input.text:
            screen.input.reset()
        elif screen.wants_to_leave:
            screen.leave()
        else:
            screen.warn_of_leaving()

    @keys.add("c-d", filter=typing)
    def _eof(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            screen.leave()

    @keys.add("s-tab", filter=typing)
    def _mode(event: KeyPressEvent) -> None:
        del event
        screen.next_mode()

    @keys.add("tab", filter=typing)
    def _complete(event: KeyPressEvent) -> None:
        common = commonprefix(completions(event.current_buffer.text))  # noqa: RUF071 - of words, not paths
        if common:
            event.current_buffer.text = common
            event.current_buffer.cursor_position = len(common)


def _question_keys(keys: KeyBindings, screen: Screen, asking: Filter) -> None:
    choosing = asking & Condition(lambda: screen.dialog is not None and not screen.dialog.writing)
    writing = asking & ~choosing

    def moves(by: int, *names: str) -> None:
        def move(event: KeyPressEvent) -> None:
            del event
            if screen.dialog is not None:
                screen.asked.step(screen.dialog.move(by))

        for name in names:
            keys.add(name, filter=choosing, eager=True)(move)

    moves(-1, "up", "c-p", "s-tab")
    moves(+1, "down", "c-n", "tab")

    def take(next: Dialog | Menu | Outcome) -> None:
        screen.asked.step(next)
        if isinstance(next, Dialog) and next.writing:
            screen.reason.text = next.begun
            screen.reason.cursor_position = len(next.begun)

    @keys.add(Keys.Any, filter=choosing)
    def _letter(event: KeyPressEvent) -> None:
        if screen.dialog is not None:
            take(screen.dialog.letter(event.data))

    @keys.add(Keys.BracketedPaste, filter=choosing)
    def _pasted(event: KeyPressEvent) -> None:
        if screen.dialog is not None:
            take(screen.dialog.paste(event.data))

    @keys.add("backspace", filter=choosing)
    def _erase(event: KeyPressEvent) -> None:
        del event
        if screen.dialog is not None:
            screen.asked.step(screen.dialog.erase())

    @keys.add("enter", filter=choosing)
    def _take(event: KeyPressEvent) -> None:
        del event
        if screen.dialog is not None:
            screen.asked.step(screen.dialog.pick())

    @keys.add("enter", filter=writing)
    def _written(event: KeyPressEvent) -> None:
        if screen.dialog is not None:
            screen.asked.step(screen.dialog.write(event.current_buffer.text))

    @keys.add("escape", filter=asking)
    def _back(event: KeyPressEvent) -> None:
        del event
        if screen.dialog is not None:
            screen.asked.step(screen.dialog.back())

    @keys.add("c-c", filter=asking)
    @keys.add("c-d", filter=asking)
    @keys.add(Keys.SIGINT, filter=asking)
    def _stop(event: KeyPressEvent) -> None:
        del event
        screen.asked.stop()

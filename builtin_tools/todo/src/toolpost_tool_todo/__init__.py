"""TodoWrite: the session's task list."""

from __future__ import annotations

from .tool import TODOS, Todo, TodoInput, TodoWrite

__all__ = ["TODOS", "Todo", "TodoInput", "TodoWrite"]

"""NotebookEdit: change the cells of a Jupyter notebook."""

from __future__ import annotations

from .tool import NotebookEdit, NotebookEditInput

__all__ = ["NotebookEdit", "NotebookEditInput"]

"""What the model is asked for."""

from __future__ import annotations

from typing import Final

INSTRUCTION: Final = """\
Stop here for a moment and write a handover: the conversation above will be replaced by it, and you go on from it alone.
Call no tool. Write it between <summary> and </summary>, in these parts, and leave out a part that has nothing:

1. Task: what the user wants, with everything they asked for along the way, also what is not done yet.
2. Rules: what the user said must or must not be, and how they corrected you. Keep their words.
3. State: what is done, what works, what does not, with file paths, names and line numbers.
4. Decisions: what was chosen and why, and what was tried and did not work.
5. Facts: error messages, commands, values and findings that will be needed again, word for word.
6. Next: what you were doing at this very moment, and the next step.

Be exact and short; do not retell the conversation. What the user wrote and which files were touched is added by itself."""


def instruction(more: str) -> str:
    """Return the instruction; `more` is what the user wants of this summary."""
    return f"{INSTRUCTION}\n\nThe user says about this handover: {more.strip()}" if more.strip() else INSTRUCTION

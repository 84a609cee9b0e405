"""The kinds of records in a transcript, beside messages, and the form that they are written in."""

from __future__ import annotations

from typing import Final

SCHEMA: Final = 1
"""The form of the records that are written; each record of the chain says it. Those before had none."""
REPLACEMENT: Final = "content-replacement"
"""The type of a record that says what is sent in the place of a result that was too long beside others."""
REWIND: Final = "conversation-rewind"
"""The type of a record that says that the conversation went back, to behind the record `leafUuid`."""
TOMBSTONE: Final = "tombstone"
"""The type of a record that says which records (`uuids`) count as never said: an answer whose stream was cut off."""
USAGE: Final = "answer-usage"
"""The type of a record that says what an answer used in all: its blocks are kept before that is known."""
QUEUE: Final = "queue-operation"
"""The type of a record that says that something had to wait for the model, or waits no longer."""
COPY: Final = "session-copy"
"""The type of a record at the head of a copy that says in which folder that was begun (`cwd`)."""
TITLE: Final = "custom-title"
"""The type of a record that says what the session is called (`customTitle`)."""
MODE: Final = "permission-mode"
"""The type of a record that says which permission mode is in force (`permissionMode`)."""
MODEL: Final = "model"
"""The type of a record that says which model is asked (`model`)."""
THINKER: Final = "thinking-model"
"""The type of a record that says whose thoughts are sent from now on (`model`), those up to `leafUuid` no more."""
COST: Final = "cost-totals"
"""The type of a record that says what the session has cost so far."""
DEFERRED: Final = "deferred-call"
"""The type of a record that says which call waits for the next run (`toolUseId`); null once it was taken up."""
STATES: Final = (TITLE, "ai-title", MODE, MODEL, THINKER, COST, DEFERRED)
"""The types of which the last record counts: it is written anew now and then, so that the file's end has it."""
BOUNDARY: Final = "compact_boundary"
"""The subtype of the system record behind which the conversation begins anew, after a compaction."""

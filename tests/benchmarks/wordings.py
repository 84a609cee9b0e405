"""How people, models and programs put things in the sessions that are made: two ways that have no sentence in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Form: TypeAlias = tuple[str, tuple[str, ...]]
"""A sentence, and the words of it that have to be found again."""


@dataclass(frozen=True)
class Wording:
    """Sentences to fill in. `prose` is what the model says of no weight, `noise` lines of output that look like errors.

    With `narrates` the model says something of no weight before most of its calls, and failed calls are marked as such.
    """

    tasks: Sequence[Form]
    rules: Sequence[Form]
    corrections: Sequence[Form]
    decisions: Sequence[Form]
    errors: Sequence[Form]
    small_talk: Sequence[str]
    prose: Sequence[str]
    noise: Sequence[str] = ()
    narrates: bool = False


PLAIN: Final = Wording(
    tasks=(
        (
            "Build the {noun} for {name}: it has to {other} every {number} s.",
            ("{noun}", "{name}", "{other}", "{number} s"),
        ),
    ),
    rules=(
        ("Never touch {path}, somebody else owns it.", ("{path}", "ever touch")),
        ("The public function {name} must keep its signature.", ("{name}", "signature")),
        ("Whatever you do, stay below {number} ms for the {noun} request.", ("{number} ms", "{noun}")),
        ("We only use {name} version {number}, do not upgrade it.", ("{name}", "{number}")),
        ("All messages to the user are in German and go through {name}.", ("German", "{name}")),
        ("Commit nothing until I say the word {name}.", ("{name}",)),
    ),
    corrections=(
        ("No, that is wrong: {name} counts from {number}, not from zero.", ("{name}", "{number}")),
        ("Stop mocking the {noun} in {name}, use the real one.", ("{noun}", "{name}", "real")),
        ("I meant the {noun} of {name}, not the other one.", ("{noun}", "{name}")),
    ),
    decisions=(
        (
            "I decided for {name} instead of {other}, since {other} loses the order of the {noun}.",
            ("{name}", "{other}"),
        ),
        ("We go with a limit of {number} in {name}; a larger one made the {noun} slow.", ("{number}", "{name}")),
    ),
    errors=(
        ("{name}Error: {noun} {number} is not open", ("{name}Error", "{noun} {number}")),
        ("FAILED {path}::test_{name} - assert {number} == 0", ("test_{name}", "{number}")),
    ),
    small_talk=(
        "Go on with the next part.",
        "Looks good so far.",
        "Please look at the failing run.",
        "Can you explain that part?",
        "Then do the same for the rest.",
        "And what about the edge cases?",
        "Run the tests again, please.",
    ),
    prose=(
        "I looked at the {noun} and it does what it says.",
        "The {noun} is called from two places.",
        "The tests for the {noun} pass.",
        "Next I look at how the {noun} is made.",
        "That part needs no change.",
    ),
)

HELD_OUT: Final = Wording(
    tasks=(
        (
            "Our {noun} drops rows. Find out why {name} and {other} disagree, and mend it for all {number} customers.",
            ("{name}", "{other}", "{number} customers"),
        ),
        ("{name} を {other} に移してください。{number} 行まで対応が必要です。", ("{name}", "{other}", "{number}")),
    ),
    rules=(
        ("Leave {path} alone; the payments team is in there this week.", ("{path}", "alone")),
        ("{name}() is called by customers: what it returns has to stay as it is.", ("{name}", "stay as it is")),
        ("Budget for each {noun}: {number} microseconds, a hard limit.", ("{noun}", "{number} microseconds")),
        ("Bitte keine neuen Abhängigkeiten außer {name} {number}.", ("Abhängigkeiten", "{name} {number}")),
        ("テストは {name} だけで実行し、{number} 秒を超えないこと。", ("{name}", "{number} 秒")),
        ("ask me before you run anything that writes to {name}", ("ask me before", "{name}")),
    ),
    corrections=(
        ("Wrong file. The {noun} lives in {path}.", ("{noun}", "{path}")),
        ("nope, sort it by {name} and take your {noun} out again", ("{name}", "{noun}")),
        ("You misread the log: {number} was the {noun}, and {name} the port.", ("{number}", "{name}")),
    ),
    decisions=(
        ("{name} stays a plain file, as a database would need {other} at startup.", ("{name}", "{other}")),
        ("So {name} retries {number} times. More than that trips the {noun}.", ("{name}", "{number}")),
        ("Das {noun} bleibt in {name}, weil {other} nach einem Neustart leer ist.", ("{name}", "{other}")),
        ("- **{other} wins**: {name} can't stream a {noun} without reading it twice", ("{other}", "{name}")),
        ("{noun} は {name} で処理します。{other} は遅すぎます。", ("{name}", "{noun}")),
    ),
    errors=(
        ("thread 'main' panicked at {path}:{number}: {noun} overflow", ("panicked at {path}:{number}",)),
        ("npm ERR! missing script: {name}", ("missing script: {name}",)),
        ("error[E{number}]: mismatched types in {name}", ("E{number}", "{name}")),
        ("bash: {name}: command not found", ("{name}: command not found",)),
        ("{path}:{number}: undefined reference to `{name}'", ("{path}:{number}", "{name}")),
        ("cp: {path}: Permission denied ({number})", ("{path}: Permission denied ({number})",)),
        ("psycopg.OperationalError: {noun} refused for {name} on {number}", ("{name} on {number}",)),
        ("Segmentation fault (core dumped) {name} {number}", ("{name} {number}",)),
    ),
    small_talk=(
        "ok, next",
        "weiter so",
        "And then?",
        "What do you make of it?",
        "続けてください。",
        "hm, sure?",
        "try",
    ),
    prose=(
        "I read {path}; it has {number} lines and nothing that matters here.",
        "`{name}` looks fine.",
        "There are {number} callers of {name}, all of them in tests.",
        "The run took {number} ms.",
        "Let me check {name} next.",
        "Ich sehe mir jetzt {name} an.",
        "Now I'll run the tests for the {noun}.",
    ),
    noise=(
        "collected {number} items, 0 errors",
        "test_error_of_{name} PASSED",
        "lint: no errors in {name}",
        "{number} passed, 0 failed",
    ),
    narrates=True,
)

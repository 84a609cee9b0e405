"""A plugin that hangs as it is loaded is given up; nothing of the alarm stays behind."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import pytest

from toolpost_core.plugins.limit import DEFAULT, VARIABLE, Limit, LoadTimeoutError, load_limit

pytestmark = pytest.mark.timeout(60, method="thread")  # its other method sets the alarm that is tested here


def hang_deaf() -> None:
    """Hang once more where an alarm was swallowed."""
    try:
        signal.pause()
    except BaseException:
        signal.pause()


@pytest.mark.parametrize("hang", [signal.pause, threading.Event().wait, threading.Lock().acquire, hang_deaf])
def test_a_block_that_hangs_is_interrupted(hang: Callable[[], object]) -> None:
    if hang.__name__ == "acquire":
        hang()  # the second one waits
    with pytest.raises(LoadTimeoutError, match=VARIABLE), Limit(0.05):
        hang()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_what_catches_exceptions_does_not_swallow_the_alarm() -> None:
    def stubborn() -> None:
        while True:
            try:
                time.sleep(10)
            except Exception:
                continue

    with pytest.raises(LoadTimeoutError), Limit(0.05):
        stubborn()


def test_a_block_that_ends_in_time_leaves_nothing() -> None:
    with Limit(30):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_alarm_that_the_program_set_is_left_alone() -> None:
    signal.setitimer(signal.ITIMER_REAL, 600)
    try:
        with Limit(30):
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 500
    finally:
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    assert left > 500


def test_beside_the_main_thread_the_block_runs_without_a_limit() -> None:
    ran: list[float] = []

    def work() -> None:
        with Limit(30):
            ran.append(signal.getitimer(signal.ITIMER_REAL)[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [0.0]


@pytest.mark.parametrize(("said", "limit"), [("2.5", 2.5), ("0", 0.0), ("-1", 0.0), ("soon", DEFAULT), (None, DEFAULT)])
def test_the_environment_sets_the_limit(monkeypatch: pytest.MonkeyPatch, said: str | None, limit: float) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if said is not None:
        monkeypatch.setenv(VARIABLE, said)
    assert load_limit() == limit

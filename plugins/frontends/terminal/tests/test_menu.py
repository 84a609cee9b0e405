from __future__ import annotations

from toolpost_frontend_terminal.menu import MOST_ROWS, Entry, Menu, Picked


def menu(count: int) -> Menu:
    return Menu(tuple(Entry(f"entry {number}", "note") for number in range(count)))


def shown(menu: Menu) -> list[str]:
    return ["".join(text for _, text in line).strip() for line in menu.lines()]


def moved(menu: Menu, by: int) -> Menu:
    for _ in range(abs(by)):
        menu = menu.move(1 if by > 0 else -1)
    return menu


def test_a_digit_or_enter_takes_an_entry() -> None:
    assert menu(3).move(1).pick() == Picked(1)
    assert menu(3).letter("3") == Picked(2)


def test_keys_that_mean_nothing_change_nothing() -> None:
    for key in ("4", "0", "y", "x"):
        assert menu(3).letter(key) == menu(3)
    assert menu(3).write("text") == menu(3)


def test_escape_and_ctrl_c_take_none() -> None:
    assert menu(3).back() == menu(3).stop() == Picked(None)


def test_a_long_list_moves_along_and_says_what_it_hides() -> None:
    long = menu(20)
    assert shown(long)[0] == "❯ 1. entry 0  note"
    assert len(shown(long)) == MOST_ROWS + 1
    assert shown(long)[-1].endswith("11 below")

    further = moved(long, 10)
    assert shown(further)[0] == "1. entry 2  note"
    assert shown(further)[-1].endswith("2 above · 9 below")
    assert further.letter("9") == Picked(10)
    assert moved(long, -1).pick() == Picked(19)
    assert shown(moved(long, -1))[-1].endswith("11 above")
    assert shown(moved(moved(long, -1), 1))[0].startswith("❯ 1. entry 0")


def typed(menu: Menu, text: str) -> Menu:
    for letter in text:
        next = menu.letter(letter)
        assert isinstance(next, Menu)
        menu = next
    return menu


def test_letters_narrow_a_long_list_down_to_what_has_all_words() -> None:
    labels = ("Fix the parser", "Add a test", "fix a TEST", *(f"other {number}" for number in range(9)))
    long = Menu(tuple(Entry(label, "main") for label in labels))
    assert "letters search" in shown(long)[-1]

    narrow = typed(long, "fix te")
    assert shown(narrow)[:-1] == ["❯ 1. fix a TEST  main"]
    assert narrow.pick() == Picked(2)
    assert shown(narrow)[-1].startswith("Search: fix te")
    assert shown(narrow.erase().erase())[:-1] == ["❯ 1. Fix the parser  main", "2. fix a TEST  main"]
    assert typed(long, "other 7").pick() == Picked(10), "a digit behind letters is searched for"


def test_a_search_that_finds_nothing_takes_nothing_and_escape_shows_all_again() -> None:
    nothing = typed(menu(20), "xyz")
    assert nothing.pick() == nothing.move(1) == nothing
    assert shown(nothing) == ["Search: xyz · nothing has that; Esc shows all"]
    assert nothing.back() == menu(20)
    assert menu(20).erase() == menu(20)

"""Whether a version lies in a range."""

from __future__ import annotations


def allows(specifier: str, version: str) -> bool:
    """Whether a specifier such as `>=1,<2` includes a version; an empty one includes all.

    A range that can't be read includes nothing.
    """
    wanted = _release(version)
    for clause in filter(None, (part.strip() for part in specifier.split(","))):
        bound = _release(clause.lstrip("<>="))
        if bound is None or wanted is None or not clause.startswith((">=", "<")) or clause.startswith("<="):
            return _by_packaging(specifier, version)
        if (clause[0] == ">") == (wanted < bound):
            return False
    return True


def _release(text: str) -> tuple[int, int, int] | None:
    parts = text.strip().split(".")
    if len(parts) > 3 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    major, minor, micro = (int(part) for part in (*parts, "0", "0")[:3])
    return major, minor, micro


def _by_packaging(specifier: str, version: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidSpecifier:
        return False

from __future__ import annotations

import pytest

from toolpost import PluginError
from toolpost_core.plugins.scaffold import Names, names_for


@pytest.mark.parametrize("name", ["acme-sql", "Acme_SQL", "acme.sql", "acme--sql"])
def test_package_and_class_follow_from_the_name_as_indexes_compare_it(name: str) -> None:
    assert names_for(name, "tools") == Names("acme-sql", "acme_sql", "AcmeSql")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "can't be the name of a distribution"),
        ("acme sql", "can't be the name of a distribution"),
        ("-acme", "can't be the name of a distribution"),
        ("acme-", "can't be the name of a distribution"),
        ("../acme", "can't be the name of a distribution"),
        ("acmé", "can't be the name of a distribution"),
        ("acme\n", "can't be the name of a distribution"),
        ("a" * 51, "1 to 50"),
        ("3d-print", "'3d_print', which Python can't import"),
        ("class", "'class', which Python can't import"),
        ("Json", "hide the module 'json' of Python's standard library"),
        ("concurrent", "hide the module 'concurrent' of Python's standard library"),
        ("tests", "like a folder of every project"),
        ("PyTest", "a distribution pytest ("),
        ("toolpost.core", "a distribution toolpost-core ("),
        ("toolpost", "a distribution toolpost ("),
        ("packaging", "is installed"),
        ("bash", "toolpost-tool-bash has a plugin of that kind and name"),
    ],
)
def test_a_name_that_can_not_be_used_is_refused_with_the_reason(name: str, said: str) -> None:
    with pytest.raises(PluginError) as refused:
        names_for(name, "tools")
    assert said in str(refused.value)
    assert "such as" in str(refused.value)


def test_a_plugin_of_another_kind_may_have_the_name() -> None:
    assert names_for("bash", "providers").package == "bash"

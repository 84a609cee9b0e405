"""What a start imports is a contract: a new module here is a difference to argue for."""

from __future__ import annotations

import pytest
from tests.architecture.folders import PLUGINS, Plugin
from tests.architecture.heavy import HEAVY, loaded_by

VERSION = "import sys; sys.argv = ['toolpost', '--version']\nfrom toolpost_core.cli import main\nassert main() == 0"


@pytest.mark.requirement("startup.plugins_are_light")
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.path)
def test_importing_a_plugin_loads_no_heavy_library(plugin: Plugin) -> None:
    objects = [target.partition(":")[2] for target in plugin.project["project"]["entry-points"][plugin.group].values()]
    script = f"import {plugin.package} as found\n" + "\n".join(f"found.{name}" for name in objects if name)
    assert sorted(loaded_by(script) & set(HEAVY)) == []


@pytest.mark.requirement("startup.version_is_light")
def test_asking_for_the_version_loads_the_command_line_and_nothing_else_of_ours() -> None:
    ours = {name for name in loaded_by(VERSION) - loaded_by("") if name.split(".")[0].startswith("toolpost")}
    assert ours <= {"toolpost_core", "toolpost_core.cli", "toolpost_core.version"}


@pytest.mark.requirement("startup.version_is_light")
def test_asking_for_the_version_loads_no_heavy_library() -> None:
    assert sorted(loaded_by(VERSION) & {*HEAVY, "asyncio", "pluggy", "dataclasses"}) == []

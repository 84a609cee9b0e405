from __future__ import annotations

import pytest
from powershell_stand_in import install  # type: ignore[import-not-found]  # it lies beside this file

from toolpost.testing import ToolContract
from toolpost_tool_powershell import PowerShell


class TestPowerShell(ToolContract):
    tool = PowerShell
    example = {"command": "Get-Location"}
    examples_invalid = ({"command": " "}, {"command": "echo \0"})
    example_slow = {"command": "Start-Sleep 60"}
    max_prompt_chars = 500

    @pytest.fixture(autouse=True)
    def _program(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        install(tmp_path_factory.mktemp("bin"), monkeypatch)

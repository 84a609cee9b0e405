"""The tool PowerShell."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from toolpost import Shell, ShellInput, ShellTool, ToolFailed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from toolpost import PermissionMatcher, PermissionScope, Progress, RuleUpdate, ToolContext, ToolResult

PROGRAM: Final = "pwsh"
_TOLD = "TOOLPOST_TOLD"
_SCRIPT = f"""\
$toolpostTold = $env:{_TOLD}
Remove-Item Env:{_TOLD}
$toolpostCode = 1
try {{
%s
$toolpostCode = if ($?) {{ 0 }} elseif ($LASTEXITCODE) {{ $LASTEXITCODE }} else {{ 1 }}
}} finally {{
[IO.File]::WriteAllText($toolpostTold, (Get-Location).ProviderPath + "`0")
}}
exit $toolpostCode
"""


class PowerShell(ShellTool):
    """Runs a command in a fresh pwsh (PowerShell 7), without profile, input or terminal.

    - The working folder carries over as long as it stays inside the working directories; variables and functions do not.
    - Output over 30,000 characters is kept in a file; you get its two ends and the path.
    """

    name = "PowerShell"
    search_hint = "pwsh shell command windows run execute"

    def is_enabled(self) -> bool:
        """Whether there is a pwsh."""
        # Asked at each start: `shutil.which` would cost the import of what it is in.
        folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
        return any(os.access(os.path.join(folder, PROGRAM), os.X_OK) for folder in folders if folder)  # noqa: PTH118 - PATH holds texts, and each is looked at once

    def permission_matcher(self, input: ShellInput, scope: PermissionScope) -> PermissionMatcher:
        """Return the statements of the command."""
        from .matcher import Statements

        del scope
        return Statements(input.command)

    def suggestions(self, input: ShellInput, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Offer a rule for each statement as it stands, where they are plain words."""
        from .matcher import Statements

        del scope
        statements = Statements(input.command)
        if statements.doubt:
            return ()
        rules = [{"toolName": self.name, "ruleContent": part.text} for part in statements.parts]
        return ({"type": "addRules", "behavior": "allow", "rules": rules, "destination": "localSettings"},)

    def may_move(self, input: ShellInput) -> bool:
        """Say no to a sleep: who asks for one wants to wait."""
        return not input.command.strip().lower().startswith(("start-sleep", "sleep"))

    async def call(self, input: ShellInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Run the command to its end, its time-out or the abort."""
        from toolpost import Commands

        ctx.abort.raise_if_aborted()
        commands = ctx.service(Commands)
        try:
            shell = _fresh(input.command, ctx, commands.folder())
        except OSError as error:
            raise ToolFailed(
                f"{PROGRAM} could not be prepared: {error}. It needs a folder for temporary files."
            ) from None
        return await self.run(input, shell, commands, ctx, progress)


def _fresh(command: str, ctx: ToolContext, folder: Path) -> Shell:
    import uuid

    name = f"pwsh-{uuid.uuid4().hex[:12]}"
    told, script = folder / f"{name}.told", folder / f"{name}.ps1"
    told.touch(0o600)
    script.write_text(_SCRIPT % command, "utf-8", errors="replace")
    return Shell(
        argv=(PROGRAM, "-NoLogo", "-NoProfile", "-NonInteractive", "-File", str(script)),
        env={**Shell.environment(ctx.env or os.environ), "NO_COLOR": "1", _TOLD: str(told)},
        told=told,
        script=script,
    )

"""What a rule forbids to read is not told by a search over the folder that it lies in, whoever's tool searches."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, tool_use, turn
from tests.security.fuzz.deciding import FILE_RULE_SETS, Decider, RuleSet
from tests.security.fuzz.world import World, make_file_world, make_world

from toolpost import LaunchOptions, PermissionMode, SessionEvent, ToolFinished
from toolpost_core.api import open_session

DENIED = ("absolute.txt", "rooted.txt", "dotted.txt", "deep/bare.txt", "deep/link.txt", "secrets/k.txt", "home/h.txt")
ALLOWED = ("a.txt", "deep/b.txt")
DENYING = RuleSet("all of Bash but a file", lambda _: True, allow=("Bash",), deny=("Read(./.env)",))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder in which each form of rule forbids a file; all files hold the same word."""
    project = tmp_path.resolve() / "project"
    for name in (*DENIED, *ALLOWED):
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if name != "deep/link.txt":
            file.write_text(f"needle in {name}\n")
    (project / "deep" / "link.txt").symlink_to("../secrets/k.txt")
    deny = [
        f"Read(/{project}/absolute.txt)",
        "Read(/rooted.txt)",
        "Read(./dotted.txt)",
        "Read(bare.txt)",
        "Read(secrets/**)",
        "Read(~/h.txt)",
    ]
    settings = project / ".toolpost" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"deny": deny}}))
    return project


async def results(project: Path, *inputs: dict[str, Any], mode: PermissionMode | None = None) -> list[ToolFinished]:
    events: list[SessionEvent] = []
    async with MockMessagesApi([*(turn(tool_use("Grep", given)) for given in inputs), "Done."]) as api:
        env = {"PATH": os.environ["PATH"], "HOME": str(project / "home")}
        env |= {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "test"}
        options = LaunchOptions(cwd=project, permission_mode=mode)
        async with open_session(options, env=env) as session:
            events = [event async for event in session.submit("go")]
    return [event for event in events if isinstance(event, ToolFinished)]


@pytest.mark.parametrize("mode", [None, "bypassPermissions"])
async def test_grep_leaves_out_what_a_rule_forbids(project: Path, mode: PermissionMode | None) -> None:
    common = {"pattern": "needle", "glob": "*.txt"}
    files, counts, content, link = await results(
        project,
        common,
        {**common, "output_mode": "count"},
        {**common, "output_mode": "content", "-C": 1},
        {"pattern": "needle", "path": "deep", "output_mode": "content"},
        mode=mode,
    )

    assert files.text == "Found 2 files\na.txt\ndeep/b.txt"
    assert counts.text == "2 matching lines in 2 files\na.txt:1\ndeep/b.txt:1"
    assert content.text.splitlines() == ["a.txt:1:needle in a.txt", "--", "deep/b.txt:1:needle in deep/b.txt"]
    assert link.text == "deep/b.txt:1:needle in deep/b.txt"


READS_ALL = """
grep -r KEY .
rg KEY
ag KEY
ack -A 2 KEY
rgrep KEY
git grep KEY
diff -r . src
tar cf - .
find . -exec cat {} +
find . -type f -exec sh -c 'cat "$1"' _ {} \\;
find . | xargs cat
find . | xargs -a list cat
find . | parallel cat
fd -H -x cat
cat .*
shopt -s dotglob; cat *
f() { cat *; }; shopt -s dotglob; f
GLOBIGNORE=x; cat *
bash -O dotglob -c 'cat *'
for f in .*; do cat "$f"; done
while read f; do cat "$f"; done < <(find .)
"""
READS_SOME = "grep -r foo src\nrg foo src\nag foo src\ncat src/*\nls -R\nfind . | head\nls src/*.py | grep glob"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("withheld"))


@pytest.mark.parametrize("command", READS_ALL.strip().splitlines())
async def test_a_command_that_reads_a_folder_does_not_run_unasked_where_a_file_there_is_denied(
    command: str, world: World
) -> None:
    assert DENYING not in await Decider(world, (DENYING,)).allowed(command)


@pytest.mark.parametrize("command", READS_SOME.splitlines())
async def test_a_command_that_reads_another_folder_does(command: str, world: World) -> None:
    assert DENYING in await Decider(world, (DENYING,)).allowed(command)


LEAVES_FILES = """
npm run config
docker compose config
git config user.name "$NAME"
git add .
git add config && git commit -m "Read config from the environment"
git checkout -b feature
git restore --staged .
git diff config
git log -p -- config/app.ini
cat config/app.ini
grep -rn a config
diff config/app.ini a.txt
[ -f .env ] && docker compose up -d "$SERVICE"
test -f .env || some-tool "$x"
grep -q '^.env$' .gitignore || echo none
ls -la config src
cp -r src build
tar xzf a.tgz -C build
chmod -R u+w build
python3 -c 'import secrets; print(secrets.token_hex(8))'
python3 -c "from config import settings"
psql -c "select * from config"
for f in src/*.py; do python3 "$f"; done
x=$(git rev-parse HEAD); docker tag app "app:$x"
"""


@pytest.fixture(scope="module")
def file_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_file_world(tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("command", LEAVES_FILES.strip().splitlines())
async def test_a_rule_for_files_does_not_hold_up_what_leaves_them_alone(command: str, file_world: World) -> None:
    allowed = await Decider(file_world, FILE_RULE_SETS).allowed(command)
    assert set(FILE_RULE_SETS) <= set(allowed)

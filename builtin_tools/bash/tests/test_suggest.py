from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import PermissionScope
from toolpost_tool_bash.tool import Bash, BashInput

SCOPE = PermissionScope(cwd=Path("/srv"), home=Path("/home/me"), project=Path("/srv"), directories=(Path("/srv"),))


def offered(command: str) -> list[str]:
    updates = Bash().suggestions(BashInput(command), SCOPE)
    return [rule["ruleContent"] for update in updates for rule in update["rules"]]


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("npm run test -- --watch", ["npm run test:*"]),
        ("npm test", ["npm test:*"]),
        ("NODE_ENV=test npm test", ["npm test:*"]),
        ("timeout 60 npm test", ["npm test:*"]),
        ("sh -c 'npm test'", ["npm test:*"]),
        ("git commit -m x && git push", ["git commit:*", "git push:*"]),
        ("ls && npm run build", ["npm run build:*"]),
        ("npm run build && npm test 2>&1 | head", ["npm run build:*", "npm test:*"]),
        ("for i in 1 2; do yarn run lint; done", ["yarn run lint:*"]),
        ("pytest tests/test_a.py -k foo", ["pytest:*"]),
        ("uv run pytest -q", ["uv run pytest:*"]),
        ("ruff check . --fix", ["ruff check:*"]),
        ("cargo test --lib", ["cargo test:*"]),
        ("go test ./...", ["go test:*"]),
        ("make test", ["make test:*"]),
        ("gh pr create --title x", ["gh pr create:*"]),
        ("docker compose up -d", ["docker compose up:*"]),
        ("make", ["make"]),
        ("make -j4", ["make -j4"]),
        ("./run.sh fast", ["./run.sh fast"]),
        ("touch one", ["touch one"]),
        ("mkdir -p a/b", ["mkdir -p a/b"]),
        ("npm publish", ["npm publish"]),
        ("git -C sub push", ["git -C sub push"]),
        ("git commit -m 'a*b'", ["git commit:*"]),
    ],
)
def test_what_is_offered_is_as_narrow_as_is_of_any_use(command: str, rules: list[str]) -> None:
    assert offered(command) == rules


@pytest.mark.parametrize(
    "command",
    """
    python3 -c 'print(1)' | python3 x.py | python3 -m pytest | node x.js | ruby x.rb | perl -e 1 | bash x.sh | rm old.txt
    sudo make install | sudo npm test | env A=1 npm test | npx tsc | npx -y x | npm exec x | npm x y | pnpm dlx x | uvx ruff
    yarn exec rm | yarn dlx x | bundle exec rake | bun x y | poetry run python x.py | uv run python x.py | uv run --with x y
    uv tool run x | pipx run x | go run main.go | go generate ./... | git config a.b c | git bisect run make
    git submodule foreach ls | git filter-branch --tree-filter rm | git clone -u rm a | docker run -it x | docker exec c ls
    kubectl exec p -- ls | terraform apply | aws s3 ls | curl https://x.example | wget x | ssh host ls | watch ls
    git rebase -x rm a | nice -n 5 ls x
    find . -delete | find . -exec rm {} + | sed -i s/a/b/ x | psql -c 'select 1' | tar xf a | source venv/bin/activate | . x
    setsid npm test | flock l npm test | make SHELL=rm | xargs rm | doas npm test | script -c 'npm test' | npm run
    """.replace("\n", "|").split("|"),
)
def test_of_what_can_run_anything_only_this_very_command_is_offered(command: str) -> None:
    assert all(rule in (command.strip(), "") and "*" not in rule for rule in offered(command.strip()))


@pytest.mark.parametrize(
    "command",
    [
        "$TOOL run",
        "eval $x",
        "a; b; c; d; e; f",
        "ls",
        "touch 'a*b'",
        "ls | xargs -n1 rm",
    ],
)
def test_nothing_with_a_wildcard_is_offered_for_what_can_not_be_vouched_for(command: str) -> None:
    assert all("*" not in rule for rule in offered(command))


@pytest.mark.parametrize("command", ["npm test", "git commit -m x && git push", "make", "rm old.txt", "npm run a -- b"])
def test_what_is_offered_allows_the_same_command_the_next_time(command: str) -> None:
    matcher = Bash().permission_matcher(BashInput(command), SCOPE)
    rules = offered(command)
    assert all(any(matcher.matches(part, rule, "allow") for rule in rules) for part in matcher.parts)

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from toolpost_tool_bash.matcher import BashMatcher, understand

HERE = Path(__file__).parent
HIDDEN = json.loads((HERE / "hidden_commands.json").read_text("utf-8"))
PLAIN = json.loads((HERE / "plain_commands.json").read_text("utf-8"))


def read(line: str, folder: Path) -> BashMatcher:
    return understand(line, cwd=folder, home=folder / "home")


def hits(line: str, folder: Path, specifier: str, behavior: str) -> bool:
    matcher = read(line, folder)
    return any(matcher.matches(part, specifier, behavior) for part in matcher.parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", HIDDEN["lines"])
def test_a_deny_rule_finds_the_program_wherever_it_would_run(line: str, tmp_path: Path) -> None:
    assert hits(line, tmp_path, "rm:*", "deny")


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("true; echo `date  -u`", ["true", "date  -u", "echo `date  -u`"]),
        ("echo `echo \\`rm x\\``", ["rm x", "echo `rm x`", "echo `echo \\`rm x\\``"]),
        ("cat <<E\n`id -u`\nE", ["id -u", "cat <<E"]),
        ("ls  'a b'|wc   -l &", ["ls  'a b'", "wc   -l"]),
    ],
)
def test_each_part_is_shown_as_it_was_written(line: str, texts: list[str], tmp_path: Path) -> None:
    assert [part.text for part in read(line, tmp_path).parts] == texts


@pytest.mark.parametrize("script", ["''", "x=1", "'# nothing'"])
def test_a_shell_that_is_told_to_do_nothing_still_starts(script: str, tmp_path: Path) -> None:
    assert read(f"bash -c {script}", tmp_path).read_only
    assert hits(f"ls; bash -c {script}", tmp_path, "bash:*", "deny")
    assert not read(f"bash --rcfile run.sh -ic {script}", tmp_path).read_only
    assert not hits(f"bash --rcfile run.sh -ic {script}", tmp_path, "bash:*", "allow")


def test_a_variable_within_backticks_is_judged_by_its_own_value(tmp_path: Path) -> None:
    # Where the value stands in the backticks, `cat` stands in the line.
    parts = read("true; cat a; echo `PAGER=vim git log`", tmp_path).parts
    assert [part.read_only for part in parts if part.argv[:1] == ("git",)] == [False]


@pytest.mark.parametrize("line", HIDDEN["only_ask"])
def test_what_only_running_could_tell_is_at_least_asked_about(line: str, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    asked = any(matcher.matches(part, "rm:*", "ask") for part in matcher.parts)
    assert asked or (matcher.doubt and not matcher.read_only)


@pytest.mark.parametrize("line", [*HIDDEN["lines"], *HIDDEN["only_ask"]])
def test_nothing_that_hides_a_program_is_read_only(line: str, tmp_path: Path) -> None:
    assert not read(line, tmp_path).read_only


@pytest.mark.parametrize("line", PLAIN["read_only"])
def test_plainly_safe_lines_are_read_only(line: str, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    assert matcher.read_only, (matcher.doubt, [(part.text, part.doubt) for part in matcher.parts])


@pytest.mark.parametrize("line", PLAIN["not_read_only"])
def test_lines_that_write_run_or_can_not_be_judged_are_not_read_only(line: str, tmp_path: Path) -> None:
    assert not read(line, tmp_path).read_only


@pytest.mark.parametrize(
    "line", ["echo 'rm x'", "grep rm a", "git log --grep='rm x'", "ls # rm x", "cat <<'E'\nrm x\nE", "git rm x"]
)
def test_text_is_no_program(line: str, tmp_path: Path) -> None:
    assert not hits(line, tmp_path, "rm:*", "ask")


@pytest.mark.parametrize(
    ("specifier", "line", "fits"),
    [
        ("npm run build", "npm run build", True),
        ("npm run build", "npm  run 'build'", True),
        ("npm run build", "npm run build --x", False),
        ("npm run *", "npm run", True),
        ("npm run:*", "npm run test -- --watch", True),
        ("npm run *", "npm runx", False),
        ("ls*", "lsof -i", True),
        ("git * main", "git checkout main", True),
        ("git * main", "git log; echo main", False),
        ("* --version", "node --version", True),
        ("npm test *", "NODE_ENV=test npm test", True),
        ("npm test *", "PATH=. npm test", False),
        ("npm test *", "timeout 5 nice npm test", True),
        ("npm test *", "sudo npm test", False),
        ("find:*", "find . -exec ls {} ;", False),
        ("watch *", "watch ls", False),
        ("watch ls", "watch ls", True),
        ("bash:*", "bash -c 'ls; pwd'", True),
        ("* --version", "bash -c 'x' --version", False),
    ],
)
def test_an_allow_rule_is_held_against_the_arguments(specifier: str, line: str, fits: bool, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    assert all(matcher.matches(part, specifier, "allow") for part in matcher.parts) is fits


def test_paths_are_followed_through_cd_quotes_and_variables(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".env").touch()
    parts = read('cd src && cat ../"."env "$PWD/x" ~/y', tmp_path).parts
    assert [str(path) for path in parts[1].reads] == [
        f"{tmp_path}/src/../.env",
        f"{tmp_path}/src/x",
        f"{tmp_path}/home/y",
    ]
    assert tmp_path / ".env" in read("cat .en?", tmp_path).parts[0].reads


def test_redirections_are_parts_of_their_own(tmp_path: Path) -> None:
    parts = read("python3 gen.py > out.txt 2>/dev/null", tmp_path).parts
    assert [part.writes for part in parts] == [(tmp_path / "out.txt",), ()]


def test_after_a_cd_that_may_fail_both_folders_count(tmp_path: Path) -> None:
    assert set(read("cd sub; cat a", tmp_path).parts[1].reads) == {tmp_path / "a", tmp_path / "sub" / "a"}


@pytest.mark.parametrize(
    "line",
    ["echo 'a", "if then", "echo \x00", "echo a\rb", "echo " + "x" * 10_001, "ls; " * 51 + "ls", "$((", "((", "`"],
)
def test_what_can_not_be_read_is_doubted(line: str, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    assert matcher.doubt
    assert not matcher.read_only


def test_the_first_lines_of_a_broken_text_still_count(tmp_path: Path) -> None:
    assert hits("rm x\nif then", tmp_path, "rm:*", "deny")


def test_a_repository_that_names_programs_is_not_asked_for_its_status(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    config = tmp_path / ".git" / "config"
    config.write_text("[core]\n\tbare = false\n")
    assert read("git status", tmp_path).read_only
    config.write_text("[core]\n\tfsmonitor = ./x\n")
    assert not read("git status", tmp_path).read_only


@pytest.mark.parametrize(
    "line",
    [
        "$(" * 500,
        "{" * 3000,
        "((" * 200,
        "a=(" * 100,
        "${a:-" * 500,
        "\\",
        "<<",
        "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
    ],
)
def test_odd_and_deep_lines_end_in_bounded_time(line: str, tmp_path: Path) -> None:
    read(line, tmp_path)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("cargo --version", "rust-toolchain.toml"),
        ("yarn --version", ".yarnrc.yml"),
        ("pytest --version", "conftest.py"),
    ],
)
def test_where_a_project_names_what_runs_not_even_the_version_is_read_only(
    line: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    assert read(line, tmp_path / "sub").read_only
    (tmp_path / name).touch()
    assert not read(line, tmp_path / "sub").read_only
    assert not read(f"cd .. && {line}", tmp_path / "sub").read_only


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("f=.env; cat $f", {".env"}),
        ('f=a; for f in x y; do cat "$f"; done', {"x", "y"}),
        ('for f in *.txt; do cat "$f"; done', {"*.txt", "a.txt"}),
        ('f=a; cat "$f"; f=b; cat "$f"', {"a", "b"}),
        ("d=src; cat $d/x", {"src/x"}),
    ],
)
def test_variables_are_followed_where_their_value_is_sure(line: str, reads: set[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    found = {path for part in read(line, tmp_path).parts for path in part.reads}
    assert found == {tmp_path / name for name in reads}


@pytest.mark.parametrize(
    "line",
    [
        "f=a; $x && f=.env; cat $f",
        "f=a; if $x; then f=.env; fi; cat $f",
        "f=a; while $x; do cat $f; f=.env; done",
        "f=a; case x in *) f=.env;; esac; cat $f",
        "f=a; g() { f=.env; }; g; cat $f",
        "g() { cat $f; }; f=.env; g",
        "f=a; read f; cat $f",
        "f=a; printf -v f .env; cat $f",
        "f=a; declare f=.env; cat $f",
        "f=a; declare -n g=f; g=.env; cat $f",
        "f=a; eval $x; cat $f",
        "f=a; : ${f:=.env}; cat $f",
        "f=a; echo $((f=1)); cat $f",
        "f=a; f[0]=.env; cat $f",
        "IFS=x; f=axb; cat $f",
        "f=a; unset f; cat $f",
        "f=a; bash -c 'cat $f'",
        "f='a b'; cat $f",
        "f='*'; cat $f",
        "f=~/x; cat $f",
        "for f in a .e*; do cat $f; done",
    ],
)
def test_a_value_that_may_have_changed_is_not_known(line: str, tmp_path: Path) -> None:
    parts = [part for part in read(line, tmp_path).parts if part.argv[:1] == ("cat",)]
    assert any(part.doubt for part in parts)


@pytest.mark.parametrize(
    "line",
    [
        "f() { cd sub; }; f; cat x",
        "f() { cd sub; }; cd $PWD; f; cat x",
        "if true; then ls() { cd sub; }; fi; ls; cat x",
        "trap 'cd sub' DEBUG; cat x",
        "source a; cat x",
        "cd $d; cat x",
        "cd $d; cat < x",
    ],
)
def test_where_the_shell_may_be_elsewhere_a_file_counts_for_deny_rules_only(line: str, tmp_path: Path) -> None:
    parts = [part for part in read(line, tmp_path).parts if tmp_path / "x" in part.reads]
    assert parts
    assert all(part.doubt for part in parts)


@pytest.mark.parametrize(
    ("specifier", "line", "fits"),
    [
        ("rm -rf:*", "rm -fr x", True),
        ("rm -rf:*", "rm -r -f x", True),
        ("rm -rf:*", "rm x -v -rf", True),
        ("rm -rf:*", "rm -r x", False),
        ("rm -rf:*", "rm -r -- -f", False),
        ("git push --force:*", "git push origin main --force", True),
        ("git push --force:*", "git -C sub push origin --force", True),
        ("git push --force:*", "git push origin main", False),
        ("git push --force:*", "git stash push --force", False),
        ("npm publish:*", "npm --registry x publish", True),
        ("npm publish:*", "npm -w a publish", True),
        ("npm publish:*", "npm test", False),
        ("git push:*", "git config alias.p push; git p", True),
        ("git push:*", "git -c alias.p='push -f' p", True),
        ("rm:*", "git add run rm", False),
        ("rm:*", "git commit -m 'run rm x'", False),
    ],
)
def test_a_deny_rule_does_not_mind_the_order_of_options(specifier: str, line: str, fits: bool, tmp_path: Path) -> None:
    assert hits(line, tmp_path, specifier, "deny") is fits


@pytest.mark.parametrize("line", ["grep -R x .", "grep --dereference-recursive x", "rg -L x", "diff -r . other"])
def test_what_follows_links_reads_where_they_lead(line: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link").symlink_to("/etc")
    reads = read(line, tmp_path).parts[0].reads
    assert {tmp_path / "**", tmp_path / "sub" / "link"} <= set(reads)
    assert tmp_path / "sub" / "link" not in read("grep -r x .", tmp_path).parts[0].reads


@pytest.mark.parametrize("line", [*HIDDEN["lines"], *HIDDEN["only_ask"]])
def test_a_part_names_the_first_word_of_each_rule_that_covers_it(line: str, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    for part in matcher.parts:
        if matcher.matches(part, "rm:*", "ask") or matcher.matches(part, "rm:*", "deny"):
            assert part.heads is None or "rm" in part.heads


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("cd sub && cat x", {"sub"}),
        ("cd sub && true; cat x", {".", "sub"}),
        ("cd sub && cd deep && true; cat x", {".", "sub", "sub/deep"}),
        ("cd sub && true || cat x", {".", "sub"}),
        ("cd sub && cd deep || cat x", {".", "sub", "sub/deep"}),
        ("cd sub || cat x", {".", "sub"}),
        ("true || cd sub && cat x", {".", "sub"}),
        ("cd sub && true & cat x", {"."}),
        ("true && cd sub & cat x", {"."}),
        ("cd sub & cat x", {"."}),
        ("cd sub | cat x", {"."}),
        ("(cd sub); cat x", {"."}),
        ("{ cd sub; } && cat x", {".", "sub"}),
    ],
)
def test_a_move_counts_where_it_may_have_happened(line: str, folders: set[str], tmp_path: Path) -> None:
    found = {path for part in read(line, tmp_path).parts if part.argv[:1] == ("cat",) for path in part.reads}
    assert found == {tmp_path / folder / "x" for folder in folders}


@pytest.mark.parametrize(
    "line",
    [
        "for i in a b; do rm x; rm() { :; }; done",
        "while true; do rm x; rm() { :; }; done",
        "f() { rm x; rm() { :; }; cat y; }; f",
        "rm() { :; } & rm x",
        "true && rm() { :; } & rm x",
    ],
)
def test_a_function_that_is_defined_later_or_elsewhere_hides_nothing(line: str, tmp_path: Path) -> None:
    assert not read(line, tmp_path).read_only


@pytest.mark.parametrize("line", ["find -L . -name x", "find . -follow", "tree -l", "fd -L x", "ls -LR", "du -L ."])
def test_what_lists_behind_links_reads_where_they_lead(line: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    assert tmp_path / "link" in read(line, tmp_path).parts[0].reads


@pytest.mark.parametrize(
    ("line", "unseen"),
    [
        ('cat "$x"', {"reads"}),
        ("x=$(ls); cat $x", {"reads"}),
        ("cat < $x", {"reads"}),
        ("cat a | xargs -0 cat", {"reads"}),
        ("find . | xargs -0 cat", set()),
        ('git show "$x"', {"reads"}),
        ("git show HEAD:a", set()),
        ("git cat-file --batch", {"reads"}),
        ("git ls-files $x", set()),
        ('git log -L "1,1:$x"', {"reads"}),
        ("find . -name x -exec ./cat {} + -exec cat {} +", {"reads"}),
        ("bash -c 'cat \"$1\"' _ a", {"reads"}),
        ('echo x > "$x"', {"writes"}),
        ('rm "$x"', {"writes"}),
        ('cp a "$x"', {"writes"}),
        ('cp "$x" a', {"reads"}),
        ('ls "$x"', set()),
        ('echo "$x"', set()),
        ('some-tool "$x"', set()),
        ("cat a.txt", set()),
        (". venv/activate && pip list", set()),
        ("source venv/activate", set()),
    ],
)
def test_files_that_only_running_names_are_said_to_be_unseen(line: str, unseen: set[str], tmp_path: Path) -> None:
    found = {kind for part in read(line, tmp_path).parts for kind in part.unseen}
    assert found == unseen


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("sed -n 'w .git/config' a.txt", ".git/config"),
        ("sed -n '/x/w out' a.txt", "out"),
        ("sed -ic s/a/b/ .bashr", ".bashrc"),
        ("sed --in-place=.bak s/a/b/ a.txt", "a.txt.bak"),
        ("awk '{print > \"out\"}' a.txt", "out"),
        ("split a.txt out", "out"),
        ("tar xf a.tar -C out", "out"),
        ("unzip a.zip -d out", "out"),
        ("curl -o out https://x.example", "out"),
        ("curl https://x.example --output=out", "out"),
        ("wget -Oout https://x.example", "out"),
        ("git archive -o out HEAD", "out"),
        ("cp -r vendor copy", "copy/HEAD"),
        ("cp -r vendor copy", "copy/vendor/HEAD"),
        ("rm *.txt", "a.txt"),
        ("find . -name '*.txt' -delete", "a.txt"),
        ('for f in *.txt; do echo > "$f"; done', "a.txt"),
    ],
)
def test_a_file_that_a_command_writes_is_seen(line: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "HEAD").touch()
    (tmp_path / "a.txt").touch()
    written = {path for part in read(line, tmp_path).parts for path in part.writes}
    assert tmp_path / file in written
    assert tmp_path not in written


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("f=(a .env); some-tool ${f[1]}", ".env"),
        ("f=xx.env; some-tool ${f:2}", ".env"),
        ("f=.envx; some-tool ${f%x}", ".env"),
        ("f=z.env; some-tool ${f/z/}", ".env"),
        ("some-tool ${x:-.env}", ".env"),
        ("some-tool .e`echo n`v", ".env"),
        ("some-tool $(printf '%s' .e$(echo n)v)", ".env"),
        ('b=nv; f=.e$b; eval "some-tool $f"', ".env"),
        ("x=1; some-tool ${x:-.en}v", ".env"),
        ("pushd sub; some-tool $(echo ../.env)", ".env"),
        ("mkdir new; cd new; some-tool $(echo ../.en[v])", ".env"),
        ("cd ..; some-tool $OLDPWD/.env $x", ".env"),
        ("f=.{env,other}; eval some-tool $f", ".env"),
        ("f=$'\\x2eenv'; some-tool $f$x", ".env"),
        ("some-tool --into=sub $x", "sub/…"),
        ("some-tool -fsub/a", "sub/a"),
        ("perl -e 'rename q(a), q(sub/a)'", "sub/a"),
        ("A=$PWD/.env some-tool", ".env"),
        ("git restore sub", "sub/**"),
        ("ln -s sub link", "sub/**"),
        ("chmod -R 700 sub", "sub/**"),
    ],
)
def test_a_file_that_may_be_opened_is_said_to_be(line: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".env").touch()
    assert tmp_path / file in {path for part in read(line, tmp_path).parts for path in part.perhaps}


@pytest.mark.parametrize(
    "line",
    ["cat a $x", "git diff sub", "[ -f sub ] && some-tool $x", "npm run sub", "git add sub", "git restore --staged sub",
     "git config user.name $x", "cd sub && ls"],
)  # fmt: skip
def test_a_folder_is_not_said_to_be_opened_by_what_leaves_it_alone(line: str, tmp_path: Path) -> None:
    for name in ("sub", "config"):
        (tmp_path / name).mkdir()
    perhaps = {path for part in read(line, tmp_path).parts for path in part.perhaps}
    assert not perhaps & {tmp_path / name / inside for name in ("sub", "config") for inside in ("…", "**")}


def test_a_line_of_too_many_names_opens_what_nobody_knows(tmp_path: Path) -> None:
    names = " ".join(f"n{number}" for number in range(500))
    [*_, part] = read(f"echo {names}; some-tool $x", tmp_path).parts
    assert part.unseen == {"reads", "writes"}


def test_a_pattern_that_comes_to_a_plain_path_is_read(tmp_path: Path) -> None:
    assert read("git diff -- 's*/../../x'", tmp_path).read_only


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("python3 -c \"print(open('.env').read())\"", ".env"),
        ('node -e \'require("fs").readFileSync(".env")\'', ".env"),
        ("awk -f .env", ".env"),
        ("sed -f .env a.txt", ".env"),
        ("tar cf x.tar .env", ".env"),
        ("tar cf x.tar .", "**"),
        ("zip -r x.zip .", "**"),
        ("docker run -v $PWD/.env:/x image", ".env"),
        ("cat /proc/self/cwd/.env", ".env"),
        ("cat /proc/$$/cwd/.env", ".env"),
        ("cat /proc/12/task/12/cwd/.env", ".env"),
    ],
)
def test_a_file_that_a_command_reads_is_seen(line: str, file: str, tmp_path: Path) -> None:
    reads = {path for part in read(line, tmp_path).parts for path in part.reads}
    unseen = any("reads" in part.unseen for part in read(line, tmp_path).parts)
    assert tmp_path / file in reads or unseen


@pytest.mark.parametrize("line", ["rm -rf *", "rm -rf ./*", 'rm -rf "$PWD"/*', "find . -delete", "rm -rf .*"])
def test_what_removes_all_of_a_folder_changes_the_folder(line: str, tmp_path: Path) -> None:
    assert tmp_path in {path for part in read(line, tmp_path).parts for path in part.writes}


@pytest.mark.parametrize("line", ['rm -rf "$x"/*', "rm -rf $x/", 'rm -rf "/$x"', "rm -rf ${x}/*"])
def test_a_removal_is_taken_for_what_it_is_where_a_variable_is_empty(line: str, tmp_path: Path) -> None:
    assert Path("/") in {path for part in read(line, tmp_path).parts for path in part.writes}


def test_a_pattern_counts_for_an_option_where_a_name_looks_like_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert read("grep x *", tmp_path).read_only
    (tmp_path / "-R").touch()
    assert not read("grep x *", tmp_path).read_only
    assert not read("sort *", tmp_path / "empty").read_only


@pytest.mark.parametrize(
    "line",
    [
        "python3 -c 'print(\"it (is\")'",
        "python3 -c \"print('$x')\"",
        "node -e 'console.log(require(\"./package.json\").version)'",
        "psql -c 'select * from x'",
        'curl "https://x.example/$id"',
        'for f in src/*.py; do black "$f"; done',
        "docker exec $c ls",
        "bash --version",
        "make CFLAGS=-O2",
    ],
)
def test_code_and_words_that_can_not_be_a_program_are_none(line: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert not hits(line, tmp_path, "rm:*", "ask")


@pytest.mark.parametrize(
    "line",
    [
        'python3 -c \'import subprocess; subprocess.run(["git", "push"])\'',
        'node -e \'require("child_process").spawnSync("git", ["push"])\'',
        'perl -e \'system("git", "push")\'',
        "git --attr-source x push",
    ],
)
def test_words_in_a_row_of_code_are_one_command(line: str, tmp_path: Path) -> None:
    assert hits(line, tmp_path, "git push:*", "ask")


@pytest.mark.parametrize("key", ["core.hooksPath", "alias.st", "core.fsmonitor", "filter.x.clean", "include.path"])
def test_a_setting_of_git_that_names_a_program_writes_where_git_looks_for_it(key: str, tmp_path: Path) -> None:
    for line in (f"git config {key} x", f"git config --add {key} x", f"git config set {key} x"):
        assert tmp_path / ".git/config" in read(line, tmp_path).parts[0].writes
    assert not read(f"git config --get {key}", tmp_path).parts[0].writes
    assert not read("git config user.name x", tmp_path).parts[0].writes


def test_a_link_that_lies_too_deep_for_any_path_is_passed_over(tmp_path: Path) -> None:
    inside = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=inside)
        above, inside = inside, os.open("d" * 250, os.O_RDONLY, dir_fd=inside)
        os.close(above)
    os.symlink("/etc/passwd", "link", dir_fd=inside)
    os.close(inside)
    assert read("grep -R x .", tmp_path).parts


def test_a_name_that_is_too_long_for_any_file_is_judged_like_another(tmp_path: Path) -> None:
    matcher = understand(f"program {'x' * 300}; tar cf a.tar {'y' * 300}", cwd=tmp_path, home=tmp_path)
    assert [part.argv[0] for part in matcher.parts] == ["program", "tar"]


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("git log -L 1,5:a.txt", "a.txt"),
        ("git log -L:name:a.txt", "a.txt"),
        ("git diff -- ':(top)a.txt'", "a.txt"),
        ("git diff -- '*.txt'", "a.txt"),
        ("git log -p -- 'a.???'", "a.txt"),
        ("git grep x -- 'A.T*'", "a.txt"),
        ("git diff ./'*.txt'", "a.txt"),
        ("git diff a\\*", "a.txt"),
        ("cd sub && git diff '../*.txt'", "a.txt"),
        ("git show HEAD:a.txt", "a.txt"),
        ("git archive HEAD 'a*'", "a.txt"),
        ("git diff --no-index . b", "**"),
        ("python3 <<< 'print(open(\"a.txt\").read())'", "a.txt"),
        ("sqlite3 x.db '.read a.txt'", "a.txt"),
        ("date -f a.txt", "a.txt"),
        ("find . -exec cat {} +", "**"),
        ("find . | xargs cat", "**"),
        ("echo a.txt | xargs cat", "a.txt"),
    ],
)
def test_files_that_are_read_are_found(line: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert file in {path.name for part in read(line, tmp_path).parts for path in part.reads}


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("grep -rn x --include='*.py' .", {"**/*.py"}),
        ("grep -rn x --include '*.py' --include='*.md' src", {"src", "src/**/*.py", "src/**/*.md"}),
        ("grep -rn x --include='*.py' --exclude=a.py .", {"**"}),
        ("grep -rn x --include='[a]*' .", {"**"}),
        ("grep -Rn x --include='*.py' .", {"**"}),
        ("grep -rn x --include='*.py' . .env", {"**/*.py", ".env", ".env/**/*.py"}),
        ("rg x -g '*.py'", {"**/*.py"}),
        ("rg -n --glob='*.py' -g '!a*' x src", {"src", "src/**/*.py"}),
        ("rg x -g '!a*'", {"**"}),
        ("rg -tpng '*.py'", {"**"}),
        ("rg x --iglob '*.PY' -g '*.md'", {"**"}),
        ("git grep x -- '*.py'", {"**/*.py"}),
        ("git grep x -- 'src*'", {"**"}),
        ("git grep x", {"**"}),
        ("rg --unknown=1 a", {"a", "**", "--unknown=1", "--unknown", "1"}),
    ],
)
def test_a_search_that_keeps_to_names_reads_nothing_else_of_a_tree(line: str, reads: set[str], tmp_path: Path) -> None:
    found = [
        path for part in read(line, tmp_path).parts for path in part.reads if path.name not in ("x", "*.py", "src*")
    ]
    trees = {path for part in read(line, tmp_path).parts for path in part.reads if path.parent.name == "**"}
    named = {str(path.relative_to(tmp_path)) for path in (*found, *trees)} - {"."}
    assert named == reads


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("find . -type f | xargs tool -x", {"**"}),
        ("find . -type f | xargs -I% tool --in %", {"**"}),
        ("find . -type f -exec tool --in={} \\;", {"**"}),
        ("ls *.py | xargs -n1 tool", {"a.py"}),
        ("find . -name '*.py' | xargs tool", {"a.py"}),
        ("find . -name '*.py' -exec tool {} +", {"a.py"}),
    ],
)
def test_what_is_found_may_be_opened_by_whatever_is_told_of_it(line: str, names: set[str], tmp_path: Path) -> None:
    for name in (".env", "a.py"):
        (tmp_path / name).touch()
    perhaps = {path.name for part in read(line, tmp_path).parts for path in part.perhaps}
    assert perhaps & {"**", ".env", "a.py"} == names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("find . -name '*.py' -exec wc -l {} +", {"a.py", "b.py"}),
        ("find . -name '*.py' | xargs wc -l", {"a.py", "b.py"}),
        ("git ls-files '*.py' | xargs wc -l", {"a.py", "b.py"}),
        ("rg -l x -g '*.py' | xargs wc -l", {"a.py", "b.py"}),
        ("find . -name '*.py' -o -name .env | xargs wc -l", {"**"}),
        ("find . -print -name '*.py' | xargs wc -l", {"**"}),
        ("find . ! -name '*.py' -exec wc -l {} +", {"**"}),
        ("find . -name 'sub*' | xargs grep -r x", {"**"}),
        ("git ls-files 'sub*' | xargs wc -l", {"**"}),
    ],
)
def test_what_finds_by_a_name_hands_on_nothing_else(line: str, names: set[str], tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in (".env", "a.py", "sub/b.py"):
        (tmp_path / name).touch()
    reads = [path.name for part in read(line, tmp_path).parts for path in part.reads]
    assert set(reads) - {tmp_path.name, "", "*.py", "x", "sub*"} == names


@pytest.mark.parametrize(
    "line", ["git diff -- ':!a.txt'", "git diff -- '*.md'", "git ls-files '*.txt'", "git diff", "git log -p -3"]
)
def test_a_file_that_git_does_not_show_by_its_name_is_not_taken_for_read(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert "a.txt" not in {path.name for part in read(line, tmp_path).parts for path in part.reads}


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ('python3 -c \'open("a.txt", "w")\'', "a.txt"),
        ("python3 -c 'import os; os.remove(\"a.txt\")'", "a.txt"),
        ('python3 -c \'from pathlib import Path; Path("a.txt").write_text("")\'', "a.txt"),
        ("python3 -c 'import shutil; shutil.rmtree(\"a\")'", "a"),
        ('node -e \'require("fs").writeFileSync("a.txt", "")\'', "a.txt"),
        ('ruby -e \'File.write("a.txt", "")\'', "a.txt"),
        ("perl -e 'open F, \">a.txt\"'", "a.txt"),
        ("perl -e 'unlink \"a.txt\"'", "a.txt"),
        ("php -r 'file_put_contents(\"a.txt\", 1);'", "a.txt"),
        ("fdisk /dev/sda", "sda"),
    ],
)
def test_files_that_code_changes_are_found(line: str, file: str, tmp_path: Path) -> None:
    assert file in {path.name for part in read(line, tmp_path).parts for path in part.writes}


def test_code_that_only_reads_changes_nothing(tmp_path: Path) -> None:
    line = 'python3 -c \'print(open("a.txt").read(), open("b", "rb"))\''
    assert not [path for part in read(line, tmp_path).parts for path in part.writes]


@pytest.mark.parametrize("name", ["with blank", "it's", 'a"b', "back\\slash"])
def test_names_that_would_become_several_arguments_are_not_handed_on(name: str, tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    assert read("find . -type f | xargs cat", tmp_path).read_only
    (tmp_path / name).touch()
    assert not read("find . -type f | xargs cat", tmp_path).read_only
    assert read("find . -type f -print0 | xargs -0 cat", tmp_path).read_only


def test_a_name_that_looks_like_an_option_is_not_handed_on_without_a_folder(tmp_path: Path) -> None:
    (tmp_path / "-o").touch()
    assert not read("rg --files | xargs sort", tmp_path).read_only
    assert read("find . | xargs sort", tmp_path).read_only


def test_a_link_to_a_denied_program_and_a_copy_of_it_are_seen(tmp_path: Path) -> None:
    (tmp_path / "tool").symlink_to("/bin/rm")
    assert hits("./tool x", tmp_path, "rm:*", "deny")
    assert hits("cp /bin/rm other", tmp_path, "rm:*", "ask")
    assert hits('ln -s "$(which rm)" other', tmp_path, "rm:*", "ask")
    assert not hits("cp a b", tmp_path, "rm:*", "ask")

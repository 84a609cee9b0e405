"""What is known of programs: the exact options with which each only reads, or only changes the files it names.

A row reads `options | operands`. Options: `-abc` take nothing, `-n=KIND` and `--name=KIND` take a value (`--name?=KIND`
only after an equals sign), `-#` is a number such as `-20`. Abbreviated long options are never understood. Operands are
given by KIND, the last one repeating if it ends in `*`. Kinds: `text` means nothing to the file system, `read` is a file
or a folder that is read, `tree` a folder read to its leaves, `list` one whose names are listed, `write` is changed,
`wipe` is removed with all below it; other kinds name a check of their own. A leading `!` says that no option whatever of
the program writes, runs or connects, so that a wildcard or an unknown word does no harm by turning out to be an option;
a leading `?` says so too, but that one may read other files, so that no name which a wildcard matches may look like one.

Sources: the manual pages of coreutils 9.1, findutils 4.9, grep 3.8, sed 4.9, git 2.39, ripgrep 14, jq 1.6, procps 4.0,
Info-ZIP 6.0, shasum 6, macOS (sw_vers) and the POSIX utilities volume; a flag missing from a row was left out or not
checked, both of which mean a question.
"""

from __future__ import annotations

from typing import Final

from .syntax import words

_AG = "-FivwclLnHhoqsaz -e=pattern -A=text -B=text -C=text -m=text -G=text -g=text -t=text --ignore=text --ignore-dir=text"
_CUT = "--bytes=text --characters=text --fields=text --delimiter=text --complement --only-delimited"
_GREP = (
    "?-EFGPivwxycLlqsbHhnTUzoaIrR -e=pattern -f=read -m=text -A=text -B=text -C=text -D=text -# "
    "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp=pattern --file=read --ignore-case "
    "--no-ignore-case --invert-match --word-regexp --line-regexp --count --color?=text --colour?=text "
    "--files-without-match --files-with-matches --max-count=text --only-matching --quiet --silent --no-messages "
    "--byte-offset --with-filename --no-filename --label=text --line-number --initial-tab --null --after-context=text "
    "--before-context=text --context=text --text --binary-files=text --exclude=text --exclude-from=read "
    "--exclude-dir=text --include=text --recursive --dereference-recursive --line-buffered --null-data --version --help "
    "| pattern read*"
)
_SUM = "?-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn | read*"
_SHOW = (
    "-pusUmc -n=text -# -U=text -S=text -G=text -M -C -B -w -b -a -z -i -E -F -P -q -L=lines -W "
    "--oneline --graph --decorate?=text --all --stat?=text --numstat --shortstat --dirstat?=text --summary --name-only "
    "--name-status --patch --no-patch --raw --patch-with-stat --unified=text --format=text --pretty?=text "
    "--abbrev-commit --no-abbrev-commit --abbrev?=text --since=text --until=text --after=text --before=text "
    "--author=text --committer=text --grep=text --all-match --invert-grep --regexp-ignore-case --extended-regexp "
    "--fixed-strings --perl-regexp --merges --no-merges --first-parent --reverse --topo-order --date-order "
    "--author-date-order --date=text --relative-date --max-count=text --skip=text --branches?=text --tags?=text "
    "--remotes?=text --follow --full-history --simplify-merges --left-right --cherry-pick --cherry-mark --cherry "
    "--boundary --word-diff?=text --color-words?=text --color?=text --no-color --minimal --patience --histogram "
    "--diff-algorithm=text --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines "
    "--function-context --find-renames?=text --find-copies?=text --no-renames --diff-filter=text --cached --staged "
    "--merge-base --exit-code --quiet --check --full-index --binary --text --no-ext-diff --no-textconv --source "
    "--no-notes --pickaxe-regex --pickaxe-all --relative?=text --no-prefix --compact-summary --clear-decorations "
    "--no-decorate --no-walk?=text --color-moved?=text --no-color-moved --no-index --inter-hunk-context=text "
    "--left-only --right-only --dense --sparse --walk-reflogs --parents --children --not --stdin | text*"
)

_PIP = {
    "list": "-l --local --user --not-required --no-color --format=text --exclude=text |",
    "show": "-f --files --no-color | text*",
    "freeze": "-l --local --user --all --no-color --exclude=text |",
}
_LISTED = "-aq -f=text --all --quiet --no-trunc --filter=text --format=text"

SUBCOMMANDS: Final[dict[str, dict[str, str]]] = {
    "pip": _PIP,
    "pip3": _PIP,
    "docker": {
        "ps": f"-ls -n=text --latest --size --last=text {_LISTED} |",
        "images": f"--digests --tree {_LISTED} | text*",
        "version": "-f=text --format=text |",
        "info": "-f=text --format=text |",
        "context": "| contexts",
    },
    "kubectl": {"version": "-o=text --client --output=text | client", "config": "| kubeconfig"},
    "openssl": {"version": "-abcdefmoprv |"},
    "terraform": {"version": "-json |"},
}
"""The rows of the subcommands of programs that do more in others.

Docker is asked over the socket that the person set up, and shows no environments and no logs. What asks a server for the
rest (`kubectl get`, `gh pr list`, `npm view`) is not here: that is the network, and what outsiders wrote.
Sources: the reference pages of `docker ps`, `docker images`, `docker context`, `kubectl version`, `kubectl config`.
"""

PROGRAMS: Final[dict[str, str]] = {
    # Builtins and what only prints
    ":": "!| text*",
    "true": "!| text*",
    "false": "!| text*",
    "echo": "!-neE | text*",
    "pwd": "!-LP |",
    "type": "-tpaPf | text*",
    "which": "!-as --all | text*",
    "whereis": "!-bmsu | text*",
    "printf": "| printf",
    "test": "| test",
    "[": "| test",
    "wait": "| text*",
    "set": "| set",
    "read": "-rs -d=text -n=text -N=text -p=text -t=text -u=text | variables",
    "export": "| exports",
    "factor": "!| text*",
    "tput": "-T=text | text*",
    "who": "-abdHlmpqrstuT | read*",
    "ulimit": "-SHacdefilmnpqrstuvx |",
    "umask": "-pS |",
    "jobs": "-lnprs |",
    "help": "-dms | text*",
    "sleep": "!| text*",
    "seq": "!-w -s=text -f=text --equal-width --separator=text --format=text | text*",
    "basename": "!-az -s=text --multiple --suffix=text --zero | text*",
    "dirname": "!-z --zero | text*",
    "whoami": "!|",
    "id": "!-agGnruz --group --groups --name --real --user --zero --context | text*",
    "groups": "!| text*",
    "uname": "!-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor "
    "--hardware-platform --operating-system |",
    "arch": "!|",
    "nproc": "!--all --ignore=text |",
    "uptime": "!-ps --pretty --since |",
    "free": "!-bkmghtlwv -s=text -c=text --human --mebi --gibi --total |",
    "date": "-uR -d=text -I?=text --date=text --utc --universal --iso-8601?=text --rfc-3339=text --rfc-email | date",
    "cal": "-13mjy -# | text*",
    "hostname": "-fsidAIy |",
    "tty": "!-s |",
    "locale": "-a -m |",
    "getconf": "-a | text*",
    "expr": "!| text*",
    "ps": "-AaedfFjlLMmTwcHyN -o=text -p=text -u=text -U=text -C=text -t=text -g=text -s=text --no-headers --sort=text "
    "--forest --pid=text --ppid=text --user=text --format=text | psflags",
    "pgrep": "!-acfilnovwx -d=text -g=text -G=text -P=text -s=text -t=text -u=text -U=text | text*",
    "pidof": "-sx | text*",
    "lscpu": "-aceJpxy |",
    "lsblk": "-abdfilmnoOprstSPJ | list*",
    "lsof": "-nPltU -i?=text -p=text -u=text -c=text | list*",
    "ss": "-tulnpaxwesmo46H --tcp --udp --listening --numeric --processes --all --summary |",
    "netstat": "-tulnpaewris46 |",
    "df": "!-ahHiklPT -t=text -x=text -B=text --human-readable --total --output?=text --type=text | list*",
    "du": "?-aAbchHDLklmsSx0 -d=text -t=text -B=text --all --apparent-size --bytes --total --human-readable --si "
    "--summarize --max-depth=text --exclude=text --time?=text --threshold=text --one-file-system | list*",
    # Files, read or listed
    "ls": "!-aAbBcCdDfFgGhHiIklLmMnNopqQrRsStTuUvwxXZ1 --all --almost-all --author --directory --classify?=text "
    "--color?=text --human-readable --inode --recursive --reverse --size --sort=text --time=text --time-style=text "
    "--width=text --group-directories-first --full-time --si --ignore=text --hide=text --format=text --no-group "
    "--numeric-uid-gid --file-type --indicator-style=text --quoting-style=text --literal --zero --block-size=text | list*",
    "tree": "-adflxispughDFqNQACSnrtUvX -L=text -P=text -I=text --noreport --charset=text --filelimit=text --du --si "
    "--dirsfirst --gitignore --prune --matchdirs --ignore-case --sort=text -J | list*",
    "stat": "!-fLt -c=text --format=text --printf=text --dereference --file-system --terse | list*",
    "file": "-bihkLNnprsv0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going "
    "| read*",
    "readlink": "!-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero | list*",
    "realpath": "!-emLPqsz --canonicalize-existing --canonicalize-missing --relative-to=list --relative-base=list "
    "--strip --no-symlinks --zero | list*",
    "cat": "!-AbeEnstTuv --show-all --number --number-nonblank --show-ends --squeeze-blank --show-tabs | read*",
    "tac": "!-bsr --before --regex --separator=text | read*",
    "nl": "!-pb=text -b=text -d=text -f=text -h=text -i=text -l=text -n=text -s=text -v=text -w=text | read*",
    "head": "!-qvz -n=text -c=text -# --lines=text --bytes=text --quiet --silent --verbose | read*",
    "tail": "!-fFqvz -n=text -c=text -s=text -# --lines=text --bytes=text --quiet --silent --verbose --follow?=text "
    "--pid=text --retry | read*",
    "wc": "!-clmwL --bytes --chars --lines --words --max-line-length --total=text | read*",
    "cut": f"!-sz -b=text -c=text -d=text -f=text {_CUT} --output-delimiter=text | read*",
    "tr": "!-cCdst --complement --delete --squeeze-repeats --truncate-set1 | text*",
    "rev": "!| read*",
    "fold": "!-bs -w=text --bytes --spaces --width=text | read*",
    "fmt": "!-cstu -w=text -g=text -p=text --width=text | read*",
    "column": "!-txenR -s=text -o=text -c=text -N=text --table --separator=text --output-separator=text | read*",
    "pr": "-dFfJmrtT -l=text -w=text -h=text -o=text -# --omit-header --double-space | read*",
    "bc": "-lqsw --mathlib --quiet | read*",
    "expand": "!-i -t=text | read*",
    "unexpand": "!-a -t=text | read*",
    "paste": "!-sz -d=text --delimiters=text --serial | read*",
    "join": "!-iz -a=text -e=text -j=text -o=text -t=text -v=text -1=text -2=text | read*",
    "comm": "!-123z --output-delimiter=text --total | read*",
    "cmp": "!-bls -i=text -n=text --bytes=text --print-bytes --silent --quiet --verbose --ignore-initial=text "
    "| read read text*",
    "diff": "-abBcdeEiNnqrstuwyZTp -U=text -C=text -W=text -x=text -I=text -F=text -# --brief --color?=text "
    "--recursive --side-by-side --unified?=text --context?=text --width=text --ignore-case --ignore-all-space "
    "--ignore-space-change --ignore-blank-lines --ignore-trailing-space --new-file --text --exclude=text "
    "--report-identical-files --suppress-common-lines --strip-trailing-cr --minimal --show-c-function --label=text "
    "| read*",
    "sort": "-bdfghiMnRrVcCmsuz -k=text -t=text -S=text --ignore-leading-blanks --dictionary-order --ignore-case "
    "--general-numeric-sort --human-numeric-sort --month-sort --numeric-sort --random-sort --reverse --sort=text "
    "--version-sort --check?=text --key=text --merge --stable --field-separator=text --unique --zero-terminated "
    "--parallel=text | read*",
    "uniq": "-cdDiuz -f=text -s=text -w=text --count --repeated --unique --ignore-case --skip-fields=text "
    "--skip-chars=text --check-chars=text --all-repeated?=text --zero-terminated | read",
    "shuf": "-erz -i=text -n=text --echo --input-range=text --head-count=text --repeat | read",
    "od": "?-abcdfilosxv -A=text -j=text -N=text -t=text -w?=text --address-radix=text --skip-bytes=text "
    "--read-bytes=text --format=text | read*",
    "hexdump": "-bcCdovx -n=text -s=text -e=text | read*",
    "xxd": "-abeipuC -c=text -g=text -l=text -s=text -o=text | read",
    "strings": "!-afw -n=text -t=text -e=text -# --all --bytes=text --radix=text --encoding=text | strings",
    "base64": "!-di -w=text --decode --ignore-garbage --wrap=text | read",
    "base32": "!-di -w=text --decode --ignore-garbage --wrap=text | read",
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "b2sum": _SUM,
    "cksum": "| read*",
    "sum": "-rs | read*",
    "zcat": "| read*",
    "gzip": "-cdfklqtvN123456789 --stdout --to-stdout --decompress --list --test --verbose --quiet --keep | packed",
    "gunzip": "-cfklqtvN --stdout --to-stdout --list --test --verbose --quiet --keep | packed",
    "unzip": "-lvqqZ1 | listed",
    "tar": "| tar",
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": "-FivwxclnNHhIoqsSUaPpu0L. -e=pattern -f=read -A=text -B=text -C=text -m=text -g=text -t=text -T=text "
    "-j=text -d=text -r=text -M=text -E=text --regexp=pattern --file=read --after-context=text --before-context=text "
    "--context=text --max-count=text --glob=text --iglob=text --type=text --type-not=text --type-list --threads=text "
    "--max-depth=text --replace=text --max-columns=text --encoding=text --fixed-strings --ignore-case --invert-match "
    "--word-regexp --line-regexp --count --count-matches --files --files-with-matches --files-without-match "
    "--line-number --no-line-number --with-filename --no-filename --only-matching --quiet --no-messages --smart-case "
    "--case-sensitive --multiline --multiline-dotall --text --pcre2 --pretty --heading --no-heading --column --vimgrep "
    "--json --stats --trim --hidden --no-ignore --no-ignore-vcs --unrestricted --null --color=text --colors=text "
    "--sort=text --sortr=text --follow --one-file-system --max-filesize=text --passthru --no-config --crlf --version "
    "--help | pattern tree*",
    "find": "| find",
    "vmstat": "-adDfmnstwy -S=text | text*",
    "shasum": "-bctUp0 -a=text --algorithm=text --binary --check --text --tag | read*",
    "zipinfo": "-12smlvhtTz | read",
    "sw_vers": "--productName --productVersion --buildVersion -productName -productVersion -buildVersion |",
    "fd": "-HIusLaliFgpqS1 -t=text -e=text -E=text -d=text -c=text -j=text --hidden --no-ignore --unrestricted "
    "--type=text --extension=text --exclude=text --max-depth=text --min-depth=text --glob --full-path --absolute-path "
    "--ignore-case --color=text --max-results=text --follow | text list*",
    "locate": "-ibcr -n=text | text*",
    "sed": "| sed",
    "awk": "| awk",
    "mawk": "| awk",
    "gawk": "| awk",
    "nawk": "| awk",
    "jq": "-cenrRsSCMja -h --compact-output --exit-status --null-input --raw-output --raw-input --slurp --sort-keys "
    "--color-output --monochrome-output --tab --indent=text --join-output --ascii-output --unbuffered --arg=pair "
    "--argjson=pair | jq read*",
    "cd": "-LPe@ | cd",
    # Changes only the files that it names
    "mkdir": "-pv -m=text --parents --verbose --mode=text | write*",
    "touch": "-acm -d=text -t=text -r=read --no-create --date=text --reference=read --time=text | write*",
    "rmdir": "-pv --parents --verbose --ignore-fail-on-non-empty | write*",
    "rm": "-dfiIrRv --force --recursive --dir --verbose --interactive?=text --one-file-system --preserve-root?=text "
    "--no-preserve-root | wipe*",
    "cp": "-abdfilLnpPrRsTuvx -t=write --archive --force --interactive --no-clobber --recursive --verbose "
    "--update?=text --preserve?=text --no-preserve=text --dereference --no-dereference "
    "--target-directory=write --target-dir=write --no-target-directory --link --symbolic-link --reflink?=text "
    "--backup?=text | copy",
    "mv": "-bfinTuv -t=write --force --interactive --no-clobber --verbose --update?=text "
    "--target-directory=write --no-target-directory --backup?=text | move",
    "tee": "-ai -p --append --ignore-interrupts | write*",
    "truncate": "-co -s=text -r=read --size=text --no-create --reference=read | write*",
    "unlink": "| write*",
}

LINKING: Final[dict[str, str]] = {
    "ln": "-bdfFiLnPrsTv -t=write -S=text --symbolic --force --target-directory=write --relative --no-dereference "
    "| copy",
    "chmod": "-cfvR --recursive --reference=read | text write*",
    "chown": "-cfvRhHLP --recursive --reference=read | text write*",
    "chgrp": "-cfvRhHLP --recursive --reference=read | text write*",
    "install": "-bcCdDpsTv -g=text -m=text -o=text -t=write | copy",
    "shred": "-fuvxz -n=text -s=text | write*",
    "split": "-dex -a=text -b=text -C=text -l=text -n=text -t=text | read write*",
    "patch": "-bcEflNRstuvZ -p=text -i=read -o=write -d=write | write*",
    "rsync": "-avzrlptgoDnuhPiW --delete --archive --verbose | copy",
    "scp": "-rpqvC -P=text -i=read | copy",
    "dd": "| dd",
    "mkfs": "-cvVFfq -t=text -L=text -b=text -O=text -m=text -i=text -U=text -n=text | write*",
    "wipefs": "-afiJnpq -b=text -o=text -O=text -t=text --all --force --no-act --offset=text --types=text | write*",
    "blkdiscard": "-fsvz -o=text -l=text -p=text --force --secure --zeroout | write*",
    "ag": f"{_AG} | pattern tree*",
    "ack": f"{_AG} | pattern tree*",
    "rgrep": f"{_AG} | pattern tree*",
    "ugrep": f"{_AG} | pattern tree*",
    "zip": "-rqj0123456789v -x=text -i=text --recurse-paths --quiet | write archived*",
    "less": "| read*",
    "more": "| read*",
    "vim": "| read*",
    "source": "| read*",
    ".": "| read*",
}
"""Programs whose files are known, so that path rules hold for them, but which do more than read or write those."""

GIT: Final[dict[str, str]] = {
    "status": "-sbvzu?=text --short --branch --porcelain?=text --long --verbose --untracked-files?=text --ignored?=text "
    "--show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?=text --column?=text | text*",
    "log": _SHOW,
    "show": _SHOW,
    "diff": _SHOW,
    "shortlog": "-nsecw -# --numbered --summary --email --since=text --until=text --author=text --all --no-merges "
    "--format=text --group=text | text*",
    "whatchanged": _SHOW,
    "diff-tree": "-rptzcm --root --no-commit-id --name-only --name-status --stat --patch --raw --numstat | text*",
    "diff-index": "-pzm --cached --name-only --name-status --stat --quiet --exit-code | text*",
    "diff-files": "-pzq --name-only --name-status --stat --quiet --exit-code | text*",
    "blame": "-lstfneCMwpcb -L=lines --line-porcelain --porcelain --date=text --since=text --root --show-name "
    "--show-number --show-email --abbrev=text --ignore-rev=text --first-parent --color-lines | text*",
    "annotate": "-l -L=lines | text*",
    "rev-parse": "--abbrev-ref?=text --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir "
    "--absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --verify --quiet --short?=text "
    "--symbolic --symbolic-full-name --all --branches?=text --tags?=text --remotes?=text "
    "--show-superproject-working-tree -q | text*",
    "rev-list": "-n=text -# --count --all --max-count=text --since=text --until=text --no-merges --merges "
    "--first-parent --reverse --left-right --branches?=text --tags?=text --objects --parents --oneline --author=text "
    "--grep=text | text*",
    "cherry": "-v --verbose --abbrev?=text | text*",
    "merge-base": "-a --all --is-ancestor --octopus --independent --fork-point | text*",
    "name-rev": "--name-only --tags --all --always | text*",
    "describe": "--tags --all --always --long --abbrev=text --match=text --exclude=text --dirty?=text --contains "
    "--exact-match --first-parent --candidates=text | text*",
    "ls-files": "-cdomiksuztvf -x=text -X=read --cached --deleted --modified --others --ignored --stage --unmerged "
    "--exclude=text --exclude-standard --full-name --error-unmatch --abbrev?=text --deduplicate --eol --killed "
    "--directory --no-empty-directory --recurse-submodules --with-tree=text | text*",
    "ls-tree": "-rtdlz --long --name-only --name-status --full-name --full-tree --abbrev?=text --format=text | text*",
    "cat-file": "-tsep | text*",
    "grep": "-nilwvhHcEFGPpWqaIozLr -e=text -A=text -B=text -C=text -m=text -# --line-number --ignore-case "
    "--files-with-matches --name-only --word-regexp --invert-match --count --extended-regexp --fixed-strings "
    "--perl-regexp --basic-regexp --show-function --function-context --and --or --not --all-match --untracked --cached "
    "--color?=text --no-color --heading --break --column --max-depth=text --quiet --text --full-name --only-matching "
    "--context=text --after-context=text --before-context=text --exclude-standard --no-exclude-standard "
    "--recurse-submodules | text*",
    "branch": "-avrlq --list --all --remotes --verbose --show-current --contains?=text --no-contains?=text "
    "--merged?=text --no-merged?=text --points-at=text --sort=text --format=text --column?=text --color?=text "
    "--no-color --abbrev=text --ignore-case -i | listing",
    "tag": "-ln?=text --list --contains?=text --no-contains?=text --merged?=text --no-merged?=text --points-at=text "
    "--sort=text --format=text --column?=text --color?=text -i --ignore-case | listing",
    "remote": "-v --verbose | remote",
    "stash": "-puz --patch --stat --name-only --name-status --numstat --oneline --no-color --color?=text --format=text "
    "--include-untracked | stash",
    "worktree": "-vz --verbose --porcelain | worktree",
    "config": "-lz --get --get-all --get-regexp --list --show-origin --show-scope --name-only --local --global --system "
    "--null --type=text --bool --int --includes --get-urlmatch | config",
    "reflog": "-# -n=text --oneline --format=text --date=text --all --no-color | reflog",
    "symbolic-ref": "-q --quiet --short | text",
    "for-each-ref": "--count=text --sort=text --format=text --points-at=text --merged?=text --no-merged?=text "
    "--contains?=text --ignore-case | text*",
    "show-ref": "-dhsq --head --heads --tags --dereference --hash?=text --verify --abbrev?=text --quiet | text*",
    "count-objects": "-vH --verbose --human-readable |",
    "check-ignore": "-qvnz --quiet --verbose --non-matching --no-index | text*",
    "check-attr": "-az --all --cached | text*",
    "var": "-l | text*",
    "version": "--build-options |",
    "help": "| none",
}
"""The rows of git's subcommands; an unknown one asks."""

VERSION_FLAGS: Final[dict[str, frozenset[str]]] = {
    "-V": words("python python3 pip pip3 uv ssh tmux rustc cargo"),
    "-v": words("node npm npx pnpm yarn ruby php perl lua"),
    "-version": words("java javac"),
    "version": words("go helm terraform"),
}
"""Other arguments that ask for the version alone, with the programs that know them."""

VERSION_UNLESS: Final[dict[str, frozenset[str]]] = {
    "cargo": words("rust-toolchain rust-toolchain.toml"),
    "rustc": words("rust-toolchain rust-toolchain.toml"),
    "rustup": words("rust-toolchain rust-toolchain.toml"),
    "go": words("go.mod go.work"),
    "yarn": words(".yarnrc .yarnrc.yml package.json"),
    "pnpm": words("package.json"),
    "mvn": words(".mvn"),
    "dotnet": words("global.json"),
    "pytest": words("conftest.py pytest.ini pyproject.toml tox.ini setup.cfg"),
    "bundle": words("Gemfile .bundle"),
    "gradle": words("gradle.properties"),
    "stack": words("stack.yaml"),
}
"""Files of a project with which even the question for the version runs what the project names.

Sources: the manuals of rustup (overrides), Go (toolchains), Yarn (yarnPath), Maven (jvm.config), .NET (global.json), pytest.
"""

VERSION_ONLY: Final = words("""
    python python3 node npm npx pnpm yarn bun deno ruby gem bundle go rustc cargo rustup java javac mvn gradle gcc g++
    cc clang make cmake ninja git docker podman kubectl helm terraform pip pip3 uv pipx poetry pytest ruff mypy tsc
    eslint prettier bash sh zsh jq rg grep sed awk gawk tar curl wget ssh php perl lua dotnet swift kotlin scala ghc
    stack elixir erl psql mysql sqlite3 redis-cli gh aws gcloud az tmux vim nvim emacs code ffmpeg convert openssl
    less more split csplit cmp rsync zip unzip xz bzip2 zstd
""")
"""Programs that print their version and end when that is all they are asked for."""

"""What secrets look like: keys of known forms by themselves, anything by what stands before it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Rule(NamedTuple):
    """What a kind of secret looks like. Where the pattern has a group `secret`, only that is the secret.

    A text in which it is found has one of `signs`, in whatever case; looking for them costs next to nothing.
    """

    name: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]


PRIVATE_KEYS: Final = (
    Rule(
        "private key",
        ("-----begin ",),
        re.compile(
            r"""(?x) -----BEGIN\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----
            (?: (?s:.{1,20000}?)-----END\ [A-Z ]*PRIVATE\ KEY(?:\ BLOCK)?-----
              | (?: [A-Za-z0-9+/=\s→|] | \\[rn] | (?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]* ){4,} )"""
        ),
    ),
    Rule("private key", ("age-secret-key-1",), re.compile(r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}")),
)
KEYS: Final = (
    Rule("API key", ("sk-",), re.compile(r"\bsk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{16,}")),
    Rule(
        "API key",
        ("gsk_", "xai-", "pplx-", "r8_", "lsv2_", "fw_"),
        re.compile(r"\b(?:gsk_|xai-|pplx-|r8_|lsv2_(?:pt|sk)_|fw_)(?=[A-Za-z_]{0,60}[0-9])[A-Za-z0-9_]{20,}"),
    ),
    Rule(
        "GitHub token",
        ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
        re.compile(r"\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ),
    Rule(
        "GitLab token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-"),
        re.compile(r"\bgl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{16,}"),
    ),
    Rule("AWS key", ("akia", "asia"), re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    Rule(
        "Google key",
        ("aiza", "gocspx-", "ya29."),
        re.compile(r"\bAIza[A-Za-z0-9_-]{30,}|\bGOCSPX-[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{20,}"),
    ),
    Rule(
        "Azure key",
        ("accountkey=", "sharedaccesskey="),
        re.compile(r"\b(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{30,}={0,2})"),
    ),
    Rule(
        "Slack token",
        ("xox", "xapp-"),
        re.compile(r"\bxox[abeoprs][-.](?:xox[bp]-)?[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}"),
    ),
    Rule("web hook", ("hooks.slack.com/",), re.compile(r"\bhooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{20,})")),
    Rule(
        "web hook", ("discord",), re.compile(r"\bdiscord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[A-Za-z0-9_-]{20,})")
    ),
    Rule(
        "Stripe key", ("k_live_", "k_test_", "whsec_"), re.compile(r"\b(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}")
    ),
    Rule(
        "mail key", ("sg.", "key-"), re.compile(r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}|\bkey-[0-9a-f]{32}\b")
    ),
    Rule("Twilio key", ("sk",), re.compile(r"\bSK[0-9a-f]{32}\b")),
    Rule("bot token", (":aa",), re.compile(r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b")),
    Rule(
        "package token",
        ("npm_", "rubygems_", "hf_", "dckr_pat_", "pypi-"),
        re.compile(r"\b(?:npm_|rubygems_|hf_|dckr_pat_)[A-Za-z0-9_-]{24,}|\bpypi-[A-Za-z0-9_-]{30,}"),
    ),
    Rule(
        "cloud token",
        ("o_v1_", "op_v1_", "or_v1_", "dapi", "hvs.", "hvb.", "hvr."),
        re.compile(r"\b(?:do[opr]_v1_[0-9a-f]{32,}|dapi[0-9a-f]{32}|hv[sbr]\.[A-Za-z0-9_-]{20,})"),
    ),
    Rule(
        "cloud token",
        ("atatt3", "atctt3", "nrak-", "pmak-", "glsa_", "sbp_", "dp.pt.", "dp.st."),
        re.compile(r"\b(?:ATATT3|ATCTT3|NRAK-|PMAK-|glsa_|sbp_|dp\.(?:pt|st)\.)[A-Za-z0-9_=-]{20,}"),
    ),
    Rule(
        "service token",
        ("shpat_", "shpca_", "shppa_", "shpss_", "lin_api_", "ntn_", "figd_", "secret_"),
        re.compile(r"\b(?:shp(?:at|ca|pa|ss)_|lin_api_|ntn_|figd_|secret_)[A-Za-z0-9_-]{30,}"),
    ),
    Rule("web token", ("eyj",), re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,}")),
)
NAMED: Final = (
    Rule(
        "bearer token",
        ("bearer",),
        re.compile(r"(?i)\bbearer\s+(?P<secret>(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{12,})"),
    ),
    Rule(
        "credentials",
        ("authorization",),
        re.compile(r"(?i)\bauthorization['\"]?\s*[:=]\s*['\"]?(?:basic|token)\s+(?P<secret>[^\s'\"]{8,})"),
    ),
    Rule(
        "cookie",
        ("cookie:",),
        re.compile(r"(?im)(?:^|[\s'\"])(?:set-)?cookie:[ \t]*(?P<secret>[^\s'\"=;]+=[^\n'\"]{8,})"),
    ),
    Rule("password", ("://",), re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]{0,200}:(?P<secret>[^\s/@]{3,200})@")),
    Rule(
        "password",
        ("-u",),
        re.compile(r"(?:\s-u|--user)[ =]['\"]?[^\s:'\"]+:(?!\d+\b)(?P<secret>[^\s'\"$]{3,})"),
    ),
    Rule("password", ("login",), re.compile(r"\blogin\s+\S+\s+password\s+(?P<secret>\S{3,})")),
    Rule(
        "secret",
        ("--password", "--passwd", "--token", "--api-key", "--secret"),
        re.compile(
            r"--(?:password|passwd|token|api-key|secret)(?:=|\s{1,5})['\"]?(?P<secret>(?=\S{0,60}\d)[^\s'\"$]{8,})"
        ),
    ),
    Rule(
        "secret",
        ("?", "&"),
        re.compile(
            r"(?i)[?&](?:key|sig|signature|token|password|secret|api_?key|(?:access|auth|id|refresh)_token|"
            r"client_secret|x-amz-(?:signature|credential|security-token))=(?P<secret>[^&\s'\"<>]{8,})"
        ),
    ),
    Rule(
        "secret",
        ("key=", "token=", "secret=", "password=", "passwd=", "pwd=", "passphrase=", "credentials="),
        re.compile(
            r"""(?x) \b [A-Z][A-Z0-9_]* (?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|PASSPHRASE|CREDENTIALS) = ["']?
            (?! [0-9]+\b | [/~.] ) (?P<secret> [^\s"',;<>{}()\[\]$]{8,} )"""
        ),
    ),
    Rule(
        "secret",
        ("key", "token", "secret", "passw", "passphrase"),
        re.compile(
            r"""(?ix) (?:
                (?:api|access|private|account)[_-]?key | (?:auth|access|refresh|session|security|bot|id)[_-]?token
              | secret (?:[_-]?access)? (?:[_-]?(?:key(?:_base)?|token))? | passw(?:or)?d | passphrase )
            \\?["']? \s{0,5} (?:[:=]|=>) \s{0,5}
            (?: \\?(?P<quote>["']) (?P<secret> [^\s"'\\$]{8,} ) \\?(?P=quote)
              | (?! [a-z_]+ (?:\.[a-z_]+)* \.? (?:[\s"'`,;:(){}<>\[\]]|\Z) | [/~.] | [0-9]+\b )
                (?P<bare> [^\s"'`,;<>{}()\[\]$\\]{8,}+ ) (?![(\[]) )"""
        ),
    ),
)
RULES: Final = (*PRIVATE_KEYS, *KEYS, *NAMED)
SECRET_NAME: Final = re.compile(
    r"(?i)(?:api|access|private|secret|account)[_-]?key$|token$|secret$|passw(?:or)?d$|passphrase$|credentials?$|^authorization$"
)
"""What the name of a field ends in whose value is a secret."""

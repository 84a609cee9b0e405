"""What looks like a secret is not handed on, and what does not is left as it is."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolpost_core.transcripts.redaction import Redactor
from toolpost_core.transcripts.secret_forms import RULES, Rule

# Written in two parts: what looks like a secret in a repository is one to those who look for them.
SECRETS = {
    "sk-ant" + "-api03-abcdefghijklmnop_QRSTUV-wxyz0123456789": "API key",
    "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789": "GitHub token",
    "github" + "_pat_11ABCDEFG0abcdefghijklmnop": "GitHub token",
    "glpat" + "-abcdefghij0123456789": "GitLab token",
    "AKIA" + "IOSFODNN7EXAMPLE": "AWS key",
    "AIza" + "SyA-abcdefghijklmnopqrstuvwxyz01234": "Google key",
    "xoxb" + "-1234567890-abcdefghij": "Slack token",
    "npm" + "_abcdefghijklmnopqrstuvwxyz0123456789": "package token",
    "sk-proj" + "-abcdefghijklm0123456789_ABCDEFG": "API key",
    "gsk" + "_abcdefghijklmnopqrstuvwxyz0123456789": "API key",
    "GOCSPX" + "-abcdefghijklmnop0123456789": "Google key",
    "ya29" + ".a0AfH6SMBabcdefghijklmnop": "Google key",
    "xapp" + "-1-A0123456789-abcdefghij": "Slack token",
    "sk" + "_live_abcdefghijklmnop01234567": "Stripe key",
    "rk" + "_test_abcdefghijklmnop01234567": "Stripe key",
    "whsec" + "_abcdefghijklmnop01234567": "Stripe key",
    "SG" + ".abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789abcdefg": "mail key",
    "key" + "-0123456789abcdef0123456789abcdef": "mail key",
    "SK" + "0123456789abcdef0123456789abcdef": "Twilio key",
    "123456789" + ":AAabcdefghijklmnopqrstuvwxyz0123456": "bot token",
    "dckr_pat" + "_abcdefghijklmnopqrstuvwxyz0": "package token",
    "pypi" + "-AgEIcHlwaS5vcmcabcdefghijklmnop": "package token",
    "dop_v1" + "_0123456789abcdef0123456789abcdef0123456789abcdef": "cloud token",
    "dapi" + "0123456789abcdef0123456789abcdef": "cloud token",
    "hvs" + ".abcdefghijklmnopqrstuvwxyz": "cloud token",
    "ATATT3" + "xFfGF0abcdefghijklmnopqrstuvwxyz": "cloud token",
    "shpat" + "_0123456789abcdef0123456789abcdef": "service token",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop": "web token",
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "it is {}.", "KEY={}\nnext", '"{}"', "https://x.org/?k={}&b"])
def test_a_secret_goes_wherever_it_stands(secret: str, around: str) -> None:
    told = Redactor().text(around.format(secret))
    assert secret[:12] not in told
    assert "[redacted: " in told
    assert not around.startswith("it") or told == f"it is [redacted: {SECRETS[secret]}]."


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
        ("postgres://admin:hunter22@db.local/x", "hunter22"),
        ('{"api_key": "0123456789abcdef"}', "0123456789abcdef"),
        ("password: correct-horse-battery", "correct-horse-battery"),
        ("export DB_PASSWORD=s3cretvalue", "s3cretvalue"),
        ("client_secret='zyxwvutsrq'", "zyxwvutsrq"),
        ("postgres://admin:hunter:22@db.local/x", "hunter:22"),
        ("redis://:hunter22@db.local", "hunter22"),
        ("Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l", "YWxhZGRpbjpvcGVuc2VzYW1l"),
        ('curl -H "X-Api-Key: 0123abcd4567"', "0123abcd4567"),
        ("Cookie: session=abcdefgh12345678; theme=dark", "abcdefgh12345678"),
        ("curl -u deploy:hunter22 https://x.org", "hunter22"),
        ("machine x.org login me password hunter22", "hunter22"),
        ("mysql --password=hunter22x", "hunter22x"),
        ("https://x.org/a?id=3&access_token=abcdefgh1234", "abcdefgh1234"),
        ("https://x.org/a?X-Amz-Signature=abcdefgh1234", "abcdefgh1234"),
        ("https://hooks.slack" + ".com/services/T0123/B0123/abcdefghijklmnop", "abcdefghijklmnop"),
        ("AccountName=x;AccountKey=" + "abcdefghij" * 4 + "==;Endpoint=y", "abcdefghij"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG"),
        ("SIGNING_KEY=onlyletters", "onlyletters"),
        (r"{\"password\": \"onlyletters\"}", "onlyletters"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz and it was cut", "b3BlbnNz"),
        ('"-----BEGIN EC PRIVATE KEY-----\\n"\n  "MHcCAQEE\\n"\n"-----END EC PRIVATE KEY-----"', "MHcCAQEE"),
        ("     1\t-----BEGIN PRIVATE KEY-----\n     2\tMIIE\n     3\tMIIF", "MIIF"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----", "lQOY"),
    ],
)
def test_what_is_named_a_secret_goes(text: str, gone: str) -> None:
    told = Redactor().text(text)
    assert gone not in told
    assert "[redacted: " in told


@pytest.mark.parametrize(
    "text",
    [
        "The password field is required.",
        "def secret_key(name: str) -> str: return keys[name]",
        "https://example.org/a/b?c=d",
        "task-force sk-ate",
        "sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        "token = read(path)",
        "token = tokenizer.encode(text)",
        "password = settings.database_password",
        "password: Optional[str] = None",
        "api_key=os.environ.get('API_KEY')",
        "secretName: my-tls-secret",
        '<div class="sk-loading-spinner-container">',
        'if "-----BEGIN RSA PRIVATE KEY-----" not in text:',
        "docker run -u 1000:1000 image",
        "MAX_TOKEN=1000000000 SSH_KEY=/home/me/.ssh/id_ed25519",
        "a bearer of good news, bearer authentication",
        "git commit 3f786850e387550fdab836ed7e6dc881de23001b, uuid 123e4567-e89b-12d3-a456-426614174000",
        "The --token flag is required; --password asks for one.",
        "https://x.org/search?q=key&page=2 and http://localhost:8080/@scope/name",
        "key-value pairs; secret_santa_list; SGML; cookies: none",
        "assert access_token == expected_token",
        "password=$DB_PASSWORD",
    ],
)
def test_what_is_none_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_the_values_of_variables_whose_names_say_so_go() -> None:
    env = {
        "SERVICE_TOKEN": "zebra-crossing-7",
        "DEPLOY_KEY": "/home/me/key.pem",
        "TOKENS_PER_MINUTE": "1000000000",
        "HOME": "/home/me-and-you",
    }
    said = Redactor.of(env)({"a": ["use zebra-crossing-7 for /home/me/key.pem", 1, None], "b": 1000000000})

    assert said == {"a": ["use [redacted: environment variable] for /home/me/key.pem", 1, None], "b": 1000000000}


def test_they_go_from_json_too() -> None:
    secret = 'quote " and\\ line\nénd'
    redact = Redactor.of({"SERVICE_TOKEN": secret})

    for ascii in (True, False):
        text = json.dumps({"command": f"login {secret}"}, ensure_ascii=ascii)
        assert redact.text(text) == '{"command": "login [redacted: environment variable]"}'


def test_the_value_of_a_field_goes_whose_name_says_it_is_one() -> None:
    call = {"input": {"password": "onlyletters", "user": "me", "api_key": "k" * 9, "max_tokens": "12345678901"}}
    mark = "[redacted: secret]"
    assert Redactor()(call)["input"] == {"password": mark, "user": "me", "api_key": mark, "max_tokens": "12345678901"}
    fields = {"password": "/etc/shadow", "token": "a few words of it", "key": "Enter the dungeon"}
    assert Redactor()(fields) == fields


def test_a_long_text_takes_no_long_time() -> None:
    pieces = [
        "a",
        "A_",
        "a-",
        "sk-a",
        "gsk_a-",
        "eyJa-",
        "SG.a-",
        "://a:",
        "key=",
        "bearer a.",
        "--token a",
        "password=",
        "?key=",
    ]
    for piece in (
        *pieces,
        "password: a.",
        "-----BEGIN PRIVATE KEY-----",
        "secret_",
        "A_KEY=",
        "cookie: a=",
        " -u a:",
        "b://a",
    ):
        text = piece * (100_000 // len(piece))
        started = time.process_time()
        Redactor().text(text)
        assert time.process_time() - started < 2, piece


def test_it_changes_nothing_the_second_time() -> None:
    redact = Redactor()
    once = redact.text("password: correct-horse-battery and Bearer abcdef0123456789 and " + " ".join(SECRETS))
    assert redact.text(once) == once
    json.dumps(once)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.signs[0]))
@settings(max_examples=30, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_text_with_a_secret_has_a_sign_of_its_rule(rule: Rule, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(rule.pattern))
    found = rule.pattern.search(text)
    assert found is None or any(sign in text.lower() for sign in rule.signs)

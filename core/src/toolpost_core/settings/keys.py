"""The settings keys that are known, what each may hold, and which levels may set it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from toolpost_core.settings.kinds import (
    AMOUNT,
    ANY,
    DISABLE,
    FLAG,
    LIST_MAP,
    OBJECT,
    OBJECTS,
    TEXT,
    TEXT_MAP,
    TEXTS,
    Kind,
    either,
    number,
    one_of,
)

MODE_NAMES: Final = ("default", "manual", "plan", "acceptEdits", "dontAsk", "auto", "bypassPermissions")
EFFORT_NAMES: Final = ("low", "medium", "high", "xhigh", "max")

KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "$schema": TEXT,
        "agent": TEXT,
        "allowManagedHooksOnly": FLAG,
        "allowManagedPermissionRulesOnly": FLAG,
        "allowedHttpHookUrls": TEXTS,
        "allowedMcpServers": OBJECTS,
        "alwaysThinkingEnabled": FLAG,
        "apiKeyHelper": TEXT,
        "attribution": either(FLAG, OBJECT),
        "autoCompactEnabled": FLAG,
        "autoCompactWindow": number(100_000, 1_000_000),
        "autoMemoryDirectory": TEXT,
        "autoMemoryEnabled": FLAG,
        "autoMode": OBJECT,
        "availableModels": TEXTS,
        "bashOutputMaxChars": number(4_000, 128_000),
        "claudeMd": TEXT,
        "claudeMdExcludes": TEXTS,
        "cleanupPeriodDays": number(1),
        "companyAnnouncements": TEXTS,
        "compaction": OBJECT,
        "compaction.auto": number(0),
        "compaction.blocking": number(0),
        "compaction.order": TEXTS,
        "compaction.timeout": number(1),
        "compaction.warn": number(0),
        "defaultShell": one_of("bash", "powershell"),
        "deniedMcpServers": OBJECTS,
        "deniedModels": TEXTS,
        "disableAllHooks": FLAG,
        "disabledMcpjsonServers": TEXTS,
        "effortLevel": one_of(*EFFORT_NAMES),
        "enableAllProjectMcpServers": FLAG,
        "enabledMcpjsonServers": TEXTS,
        "enabledPlugins": OBJECT,
        "env": TEXT_MAP,
        "extraKnownMarketplaces": OBJECT,
        "fallbackModel": either(TEXT, TEXTS),
        "fileCheckpointingEnabled": FLAG,
        "frontends": TEXT_MAP,
        "hooks": LIST_MAP,
        "httpHookAllowedEnvVars": TEXTS,
        "includeCoAuthoredBy": FLAG,
        "includeGitInstructions": FLAG,
        "language": TEXT,
        "maxBudgetUsd": AMOUNT,
        "maxTurns": number(1),
        "model": TEXT,
        "modelOverrides": TEXT_MAP,
        "modelPricing": OBJECT,
        "outputStyle": TEXT,
        "permissions": OBJECT,
        "permissions.additionalDirectories": TEXTS,
        "permissions.allow": TEXTS,
        "permissions.ask": TEXTS,
        "permissions.blockReadsOutsideWorkingDirectories": FLAG,
        "permissions.blockWritesOutsideWorkingDirectories": FLAG,
        "permissions.defaultMode": one_of(*MODE_NAMES),
        "permissions.deny": TEXTS,
        "permissions.denyInsteadOfPrompting": FLAG,
        "permissions.disableAutoMode": DISABLE,
        "permissions.disableBypassPermissionsMode": DISABLE,
        "plansDirectory": TEXT,
        "plugins": OBJECT,
        "promptCacheTtl": one_of("5m", "1h"),
        "provider": TEXT,
        "respectGitignore": FLAG,
        "sandbox": OBJECT,
        "sandbox.allowUnsandboxedCommands": FLAG,
        "sandbox.autoAllowBashIfSandboxed": FLAG,
        "sandbox.credentials": OBJECT,
        "sandbox.enableWeakerNestedSandbox": FLAG,
        "sandbox.enabled": FLAG,
        "sandbox.excludedCommands": TEXTS,
        "sandbox.failIfUnavailable": FLAG,
        "sandbox.filesystem": OBJECT,
        "sandbox.filesystem.allowManagedReadPathsOnly": FLAG,
        "sandbox.filesystem.allowRead": TEXTS,
        "sandbox.filesystem.allowWrite": TEXTS,
        "sandbox.filesystem.denyRead": TEXTS,
        "sandbox.filesystem.denyWrite": TEXTS,
        "sandbox.filesystem.disabled": FLAG,
        "sandbox.ignoreViolations": LIST_MAP,
        "sandbox.network": OBJECT,
        "sandbox.network.allowAllUnixSockets": FLAG,
        "sandbox.network.allowManagedDomainsOnly": FLAG,
        "sandbox.network.allowedDomains": TEXTS,
        "sandbox.network.deniedDomains": TEXTS,
        "sandbox.network.httpProxyPort": number(1, 65_535),
        "sandbox.network.socksProxyPort": number(1, 65_535),
        "sandbox.network.strictAllowlist": FLAG,
        "skillOverrides": OBJECT,
        "statusLine": OBJECT,
        "systemPrompt": TEXT,
        "tools": ANY,
        "useAutoModeDuringPlan": FLAG,
        "verbose": FLAG,
        "worktree": OBJECT,
    }
)
"""Every key is optional. Keys of an object that holds no entry here with its name in front are not looked at."""

SANDBOX_PASSED_OVER: Final = (
    "allowAppleEvents",
    "allowNestedUserNamespaces",
    "bwrapPath",
    "enableWeakerNetworkIsolation",
    "network.allowLocalBinding",
    "network.allowMachLookup",
    "network.allowUnixSockets",
    "network.tlsTerminate",
    "ripgrep",
    "socatPath",
)
"""Keys under `sandbox` that other programs know and this version does not have."""

UNHEEDED: Final = (
    "availableModels",
    "deniedModels",
    "permissions.blockReadsOutsideWorkingDirectories",
    "permissions.blockWritesOutsideWorkingDirectories",
    "permissions.denyInsteadOfPrompting",
)
"""Keys that are to hold something back and that nothing in this version acts on: who sets one has to know."""

PERSON_ONLY: Final = frozenset(
    {"autoMemoryDirectory", "autoMode", "modelPricing", "skipAutoPermissionPrompt", "skipDangerousModePermissionPrompt"}
)
"""Keys that a project's files never set, trusted or not."""

POLICY_ONLY: Final = frozenset({"allowManagedHooksOnly", "allowManagedPermissionRulesOnly", "claudeMd"})
"""Keys that count in managed settings only."""

UNTRUSTED: Final = frozenset(
    {
        "$schema",
        "alwaysThinkingEnabled",
        "attribution",
        "deniedModels",
        "effortLevel",
        "includeCoAuthoredBy",
        "includeGitInstructions",
        "language",
        "model",
        "outputStyle",
        "permissions.ask",
        "permissions.blockReadsOutsideWorkingDirectories",
        "permissions.blockWritesOutsideWorkingDirectories",
        "permissions.defaultMode",
        "permissions.deny",
        "permissions.denyInsteadOfPrompting",
        "permissions.disableAutoMode",
        "permissions.disableBypassPermissionsMode",
        "plugins",
        "respectGitignore",
    }
)
"""All that a project's files may set before the person trusted the workspace: what starts, sends and grants nothing."""

ESCALATING: Final = frozenset({"acceptEdits", "auto", "bypassPermissions"})
"""Permission modes that a project's shared file can't choose."""

from __future__ import annotations

from pathlib import Path

from toolpost import Confinement, PermissionScope, PermissionState, Sandboxes
from toolpost.testing import ServiceContract
from toolpost_service_confinement import ConfinementService


class State:
    rules = ()
    scope = PermissionScope(cwd=Path("/"), home=Path("/"), project=Path("/"))


class TestConfinement(ServiceContract):
    plugin = ConfinementService
    protocols = (Confinement,)
    services = {PermissionState: State(), Sandboxes: object()}

from acme_protect import Protect
from toolpost.testing import PermissionResolverContract


class TestProtect(PermissionResolverContract):
    plugin = Protect(folders=("db",))
    cases = (
        ("Edit", {"file_path": "/app/db/schema.sql"}, "ask"),
        ("Edit", {"file_path": "/app/main.py"}, None),
    )

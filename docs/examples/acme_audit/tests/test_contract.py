from acme_audit import Audit
from toolpost.testing import LifecycleContract


class TestAudit(LifecycleContract):
    plugin = Audit

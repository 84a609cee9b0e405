from acme_recent import KeepRecent
from toolpost.testing import CompactionContract


class TestKeepRecent(CompactionContract):
    plugin = KeepRecent

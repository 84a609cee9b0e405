import acme_bell
from toolpost import PostToolUse
from toolpost.testing import LifecycleContract


class TestBell(LifecycleContract):
    plugin = acme_bell
    events = (PostToolUse(tool_name="Bash", duration=61.0),)

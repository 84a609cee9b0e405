from acme_echo import Echo
from toolpost.testing import ProviderContract


class TestEcho(ProviderContract):
    plugin = Echo(prefix="> ")

"""Settings: read, checked, merged with provenance, and written back."""

from toolpost_core.settings.effective import LEVELS as LEVELS
from toolpost_core.settings.effective import SOURCES as SOURCES
from toolpost_core.settings.effective import Settings as Settings
from toolpost_core.settings.effective import load as load
from toolpost_core.settings.effective import own_files as own_files

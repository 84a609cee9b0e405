"""The permission mode `auto`: a small model judges calls that nobody else decides."""

from .resolver import Classifier

__all__ = ["Classifier"]

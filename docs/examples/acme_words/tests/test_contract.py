from acme_words import word_count
from toolpost.testing import ToolContract


class TestWordCount(ToolContract):
    tool = word_count
    example = {"path": "notes.txt"}
    files = {"notes.txt": "one two"}

"""Fluxx Extraction: hands files to other people's extraction APIs and never loses track of one.

The folders tell the life of a file; ``docs/story.md`` walks through them.
"""

from typing import Final

__version__: Final = "0.1.0"

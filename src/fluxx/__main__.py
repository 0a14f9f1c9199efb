"""``python -m fluxx``: the same as the console script, for children that must run this very Python."""

from fluxx.cli import main

main()

"""What can go wrong. Messages are the sentences of the command line: the file, the cause and the remedy."""

from __future__ import annotations


class Error(Exception):
    """Anything that Agogic refuses or fails at."""


class InvalidError(Error, ValueError):
    """A setting or an argument is out of its range, unknown, or does not belong to the method that was chosen."""


class FileError(Error, OSError):
    """The operating system refused to read or write a file."""


class MissingFileError(FileError, FileNotFoundError):
    """A file is not there."""


class UnreadableError(Error, ValueError):
    """A file is damaged, too large, or of a kind that is not supported."""


class UnsuitableError(Error, ValueError):
    """What was given cannot be aligned: silence, a score without notes and the like."""


class InfeasibleError(Error, ValueError):
    """Constraints contradict each other: anchors out of order, slopes that cannot reach the end."""


class CancelledError(Error):
    """The work was cancelled from another thread. Ctrl+C raises ``KeyboardInterrupt`` as ever."""

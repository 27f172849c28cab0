"""Sends each file to the module of its schema."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

from gateway.vectors.document import Document, MalformedError, find, read
from gateway.vectors.outcome import Book, Outcome

RUNNERS = {
    "crypto-kat-v1": "kat",
    "esp-packet-v1": "esp",
    "replay-sequence-v1": "replay",
    "coverage-v1": "coverage",
    "pcap-index-v1": "captures",
}


def load(where: Path, legacy: bool = False) -> list[Document]:
    """All files below ``where``, read and checked; UnusableError for the first that is unusable."""
    return [read(path, legacy) for path in find(where)]


def run(documents: Sequence[Document], progress: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """The outcomes of every file, in order. UnusableError when a case is malformed."""
    outcomes = []
    for document in documents:
        progress(f"{document.path.name}: {len(document.cases)} cases")
        book = Book(document.path.name)
        module = importlib.import_module(f"gateway.vectors.{RUNNERS[document.schema]}")
        try:
            module.run(document, book)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            # A value of a type or size that nobody thought of is the file's fault, and has to be said in one line.
            raise MalformedError(document.path, f"cannot be understood: {type(error).__name__}: {error}") from error
        outcomes += book.rows()
    return outcomes

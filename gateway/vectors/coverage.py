"""Lists of what other projects test: read, and nothing to run."""

from __future__ import annotations

from gateway.vectors.document import Document
from gateway.vectors.outcome import Book


def run(document: Document, book: Book) -> None:
    """Counts the names."""
    book["-"].not_applicable["nothing to run: names of other projects' tests"] += len(document.cases)

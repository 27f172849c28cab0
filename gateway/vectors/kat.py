"""Known answers of the schema crypto-kat-v1, as operations of the dataplane.

Which questions a case asks, who is asked, and what each answer counts as.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator

import dataplane
from gateway.vectors import authenc, montecarlo
from gateway.vectors.document import Document, Fields, fields
from gateway.vectors.outcome import Book, Outcome
from gateway.vectors.question import Layout, Question, implementations_of, lacking, table_algorithm

PLAIN_KINDS = ("aead", "cipher", "xts", "mac", "hash")
MOST_KEYS = 256
"""At a time: with AF_ALG each one is an open file or two, of which a process may have 1024."""
OWN = "/gwbench"
"""How our drivers end. Others may have limits of their own; ours take what the algorithm has."""


def questions(case: Fields) -> Iterator[Question]:
    """One case, in each direction that it speaks about; nothing for the kinds that are not one operation."""
    kind = case.word("kind", "")
    if kind not in PLAIN_KINDS:
        return
    alg, accept = case.word("alg", ""), case.word("result", "valid") != "invalid"
    key, iv, aad, pt, ct = (case.octets(name) for name in ("key", "iv", "aad", "pt", "ct"))
    if kind == "xts":
        iv = iv.ljust(8 if alg.startswith("speck64") else 16, b"\0")
    exists = kind != "aead" or (len(iv) == 12 if "chacha" in alg else len(iv) > 0)
    tag = case.octets("tag") or case.octets("digest")
    common = (key, iv, aad)
    if case.has("tag_len") and 0 < case.number("tag_len") < len(tag):
        tag = tag[: case.number("tag_len")]
    if kind in ("hash", "mac"):
        if not tag:
            raise case.complain("neither a tag nor a digest")
        yield Question(case.name, kind, False, *common, case.octets("msg"), b"", tag, accept, True)
        return
    direction = case.word("direction", "both", ("enc", "dec", "both"))
    if direction in ("enc", "both") and accept:
        yield Question(case.name, kind, False, *common, pt, ct, tag, True, exists)
    if direction in ("dec", "both") and (accept or kind == "aead"):
        out = pt if case.has("pt") else None
        yield Question(case.name, kind, True, *common, ct, out, tag, accept, exists)


def _lawful(driver: str, question: Question, error: dataplane.DataplaneError) -> str:
    """Why it need not take this: its reason, where it is someone else's or the generic one refuses as well."""
    reason = error.message.replace(driver, "it")
    if not driver.endswith(OWN):
        return reason
    generic = next((i.driver for i in implementations_of(dataplane.find_impl(driver).alg) if i.tag == "generic"), "")
    if generic in ("", driver):
        return reason
    try:
        key = dataplane.Key(generic, question.key) if question.kind != "hash" else None
        dataplane.run(generic, [question.op(generic, Layout(), key)], opening=question.opening)
    except dataplane.DataplaneError:
        return reason
    return ""


def beyond(implementation: dataplane.Impl, question: Question) -> str:
    """Which limit of someone else's code the question is beyond; empty for none. Ours have no limits of their own."""
    if implementation.alg != "gcm(aes)":
        return ""
    if implementation.tag == "openssl" and len(question.iv) > 128:
        return "OpenSSL takes nonces of at most 128 bytes"
    if implementation.tag == "af_alg" and len(question.iv) != 12:
        return "the kernel's GCM takes nonces of 12 bytes"
    if implementation.tag == "af_alg" and len(question.tag) not in (4, 8, 12, 13, 14, 15, 16):
        return "the kernel's GCM takes tags of 4, 8 and 12 to 16 bytes"
    return ""


def _ask_one(driver: str, question: Question, row: Outcome) -> None:
    """Alone, so that a refusal has a name."""
    try:
        with_key = dataplane.Key(driver, question.key) if question.kind != "hash" else None
    except dataplane.DataplaneError as error:
        reason = _lawful(driver, question, error) and f"no key of {len(question.key)} bytes"
        if reason:
            row.not_applicable[reason] += 1
        else:
            row.failed.append(f"{question.case_id}: {error.message}")
        return
    try:
        (result,) = dataplane.run(driver, [question.op(driver, Layout(), with_key)], opening=question.opening)
    except AssertionError as error:
        row.failed.append(f"{question.case_id}: {error}")
        return
    except dataplane.DataplaneError as error:
        if not question.exists:
            row.refused[f"a nonce of {len(question.iv)} bytes does not exist"] += 1
        elif not question.accept:
            row.refused["invalid input"] += 1
        elif reason := _lawful(driver, question, error):
            row.not_applicable[reason] += 1
        else:
            row.failed.append(f"{question.case_id}: {error.message}")
        return
    if not question.exists:
        row.judge("" if question.opening and not result.ok else f"{question.case_id}: took a nonce that does not exist")
        return
    row.judge(question.wrong(result))


def ask(driver: str, asked: Iterable[Question], row: Outcome) -> None:
    """Asks all of them of one implementation, as one batch a direction where nothing is refused."""
    implementation = dataplane.find_impl(driver)
    everything = []
    for question in asked:
        if limit := beyond(implementation, question):
            row.not_applicable[limit] += 1
        else:
            everything.append(question)
    for opening in (False, True):
        one_way = [q for q in everything if q.opening == opening]
        for at in range(0, len(one_way), MOST_KEYS):
            _ask_some(driver, one_way[at : at + MOST_KEYS], opening, row)


def _ask_some(driver: str, some: list[Question], opening: bool, row: Outcome) -> None:
    """One batch, and whatever was not answered alone."""
    together = [q for q in some if q.exists]
    with contextlib.ExitStack() as keys:
        try:
            of = [keys.enter_context(dataplane.Key(driver, q.key)) if q.kind != "hash" else None for q in together]
            ops = [q.op(driver, Layout(), key) for q, key in zip(together, of, strict=True)]
            results = dataplane.run(driver, ops, opening=opening) if ops else []
        except (dataplane.DataplaneError, AssertionError):  # a refusal, or a write outside the output
            results, together = [], []
    for question, result in zip(together, results, strict=True):
        row.judge(question.wrong(result))
    done = set(map(id, together))
    for question in some:
        if id(question) not in done:
            _ask_one(driver, question, row)


def run(document: Document, book: Book) -> None:
    """Every case of the file, on every implementation of its algorithm."""
    by_algorithm: dict[str, list[Question]] = {}
    for case in fields(document):
        kind, alg = case.word("kind", ""), case.word("alg", "")
        if kind in ("cipher-mct", "hash-mct"):
            montecarlo.run(case, book)
        elif kind == "authenc":
            for algorithm, question in authenc.questions(case, book):
                by_algorithm.setdefault(algorithm, []).append(question)
        elif kind not in PLAIN_KINDS:
            book["-"].not_applicable[f'nothing here is of kind "{kind}"'] += 1
        elif case.word("result", "valid") == "acceptable":
            book["-"].not_applicable["either answer is acceptable"] += 1
        else:
            asked = list(questions(case))
            by_algorithm.setdefault(table_algorithm(alg), []).extend(asked)
            if not asked:
                book["-"].not_applicable["invalid input of a cipher that rejects nothing"] += 1
    for algorithm, asked in by_algorithm.items():
        for implementation in implementations_of(algorithm):
            row = book[implementation.driver]
            if implementation.runnable:
                ask(implementation.driver, asked, row)
            else:
                row.not_applicable[lacking(implementation)] += len(asked)
        if not implementations_of(algorithm):
            book["-"].not_applicable[f"no implementation of {algorithm}"] += len({q.case_id for q in asked})


def reasons(rows: Iterable[Outcome]) -> Counter[str]:
    """All reasons of all rows."""
    return sum((row.not_applicable for row in rows), Counter())

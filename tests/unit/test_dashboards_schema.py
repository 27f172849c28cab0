"""The dashboards' JSON against Grafana's own model of it: the types that its Foundation SDK is generated with."""

from __future__ import annotations

import copy
import enum
import importlib
import re
import types
import typing
from typing import Any

import pytest
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import prometheus

from grafana.__main__ import DASHBOARDS

UNKNOWN = {"VariableModel.definition"}
"""What Grafana itself writes, and its model lacks."""
BY_KIND = {"Panel.options": "Options", "FieldConfig.custom": "FieldConfig"}
"""Typed ``object`` there, and in the panel's own module."""


def json_name(word: str) -> str:
    """The SDK's Python names as JSON has them."""
    first, *rest = word.removesuffix("_val").split("_")
    return first + "".join(part.capitalize() for part in rest)


def problems(value: Any, wanted: Any, path: str, kind: str = "") -> list[str]:
    """Where ``value`` is not what ``wanted``, a type or one of the SDK's classes, allows."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    wrong = [f"{path}: {value!r} is no {getattr(wanted, '__name__', wanted)}"]
    if origin in (typing.Union, types.UnionType):
        found = [problems(value, one, path, kind) for one in arguments]
        return min(found, key=len)
    if origin is typing.Literal:
        return [] if value in arguments else wrong
    if origin is list:
        if not isinstance(value, list):
            return wrong
        return [p for n, one in enumerate(value) for p in problems(one, arguments[0], f"{path}[{n}]", kind)]
    if origin is dict:
        return [] if isinstance(value, dict) else wrong
    if wanted is object or wanted is typing.Any:
        return []
    if wanted in (bool, int, str, type(None)):
        return [] if type(value) is wanted else wrong
    if wanted is float:
        return [] if type(value) in (int, float) else wrong
    if issubclass(wanted, enum.Enum):
        return [] if value in [one.value for one in wanted] else wrong
    return _class(value, wanted, path, kind)


def _class(value: Any, wanted: type, path: str, kind: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: {value!r} is no {wanted.__name__}"]
    if wanted.__name__ == "Dataquery" and "prometheus" not in wanted.__module__:
        wanted = prometheus.Dataquery  # whatever the data source's plug-in asks
    hints = typing.get_type_hints(wanted, vars(importlib.import_module(wanted.__module__)))
    known = {json_name(word): hint for word, hint in hints.items()}
    if wanted is model.Panel:
        kind = value["type"]
    found = []
    for word, one in value.items():
        name = f"{wanted.__name__}.{word}"
        if name in BY_KIND and wanted.__module__ == model.__name__:
            module = importlib.import_module(f"grafana_foundation_sdk.models.{kind}")
            found += problems(one, getattr(module, BY_KIND[name]), f"{path}.{word}", kind)
        elif word in known:
            found += problems(one, known[word], f"{path}.{word}", kind)
        elif name not in UNKNOWN:
            found.append(f"{path}: {wanted.__name__} has no {word}")
    return found


@pytest.mark.parametrize("name", DASHBOARDS)
def test_grafana_knows_every_word(name: str) -> None:
    assert problems(DASHBOARDS[name].json(), model.Dashboard, name) == []


@pytest.mark.parametrize("name", DASHBOARDS)
def test_grafana_keeps_every_word(name: str) -> None:
    """Read and written by its model nothing is lost."""

    def lost(before: Any, after: Any, path: str) -> list[str]:
        if isinstance(before, dict):
            return [
                p
                for word, one in before.items()
                for p in (lost(one, after[word], f"{path}.{word}") if word in after else [f"{path}.{word}"])
            ]
        if isinstance(before, list):
            return [p for n, one in enumerate(before) for p in lost(one, after[n], f"{path}[{n}]")]
        return [] if before == after else [path]

    import json

    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins

    register_default_plugins()
    before = DASHBOARDS[name].json()
    after = json.loads(json.dumps(model.Dashboard.from_json(copy.deepcopy(before)), cls=JSONEncoder))
    missing = [re.sub(r"\[\d+\]", "[]", path) for path in lost(before, after, "")]
    assert {path for path in missing if not path.endswith(".definition")} == set()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(panles=[]), "Dashboard has no panles"),
        (lambda d: d.update(editable="no"), r"editable: 'no' is no bool"),
        (lambda d: d["panels"][0]["gridPos"].update(w="12"), r"gridPos.w: '12' is no int"),
        (lambda d: d["panels"][0]["options"].update(legned={}), "Options has no legned"),
        (lambda d: d["panels"][0]["targets"][0].update(legend="x"), "Dataquery has no legend"),
        (lambda d: d["panels"][0]["fieldConfig"]["defaults"]["thresholds"].update(mode="abs"), "'abs' is no Thresh"),
    ],
)
def test_the_check_finds_what_is_wrong(change: typing.Callable[[dict[str, Any]], None], says: str) -> None:
    document = copy.deepcopy(next(iter(DASHBOARDS.values())).json())
    change(document)
    found = problems(document, model.Dashboard, "")
    assert len(found) == 1 and re.search(says, found[0]), found

"""Models and model files: one safetensors file with all that a learned policy needs.

The header holds a description as JSON: rules, settings, the signature of the domain, and how the
model was trained. Nothing in the file is executed, and damaged files are rejected.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

import planlog
from planlog.errors import ModelError, RuleError
from planlog.files import MOST_BYTES, is_stream, read_input, write_or_save
from planlog.json_text import to_json
from planlog.network.scorer import NetworkScorer, Weights
from planlog.network.settings import NetworkSettings, TemplateSettings, plain_values
from planlog.network.template import Template, build_template
from planlog.pddl.task import Domain, counted
from planlog.policy.policy import Policy

FORMAT = 2  # increases when older versions of Planlog cannot read new files

# Limit on the cost of reading a file; sensible models are far smaller.
MOST_HEADER_BYTES = 16 * 1024**2

# The description is the value of one key, since safetensors writes keys in any order, and equal
# models are to be equal files.
_KEY = "planlog"
_CHECKSUM = "checksum"


@dataclass(frozen=True, eq=False)
class Model:
    """A learned policy independent of its domain, as a model file holds it.

    `planlog.learn` trains models, `Model.read` reads them, and `policy` turns them into policies.
    Raises ModelError if the parts are inconsistent.

    >>> model = Model.read("graph/model.safetensors")
    >>> model
    Model('graph', 1 layer, width 4)
    >>> model.policy(domain)
    Policy('graph', 1 rule, scorer)
    """

    domain: str  # name of the domain
    signature: str  # all that the network depends on: types and the rules of the template
    rules: str | None  # text of the rule file; None: all applicable actions
    template: TemplateSettings
    network: NetworkSettings
    weights: Weights
    # Record of the training, for people: any JSON value; numbers that are not finite become None.
    training: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = json.loads(to_json(dict(self.training)))
        object.__setattr__(self, "training", plain)
        texts = [self.domain, self.signature, *self.versions.keys(), *self.versions.values()]
        if self.rules is not None:
            texts.append(self.rules)
        if not all(isinstance(text, str) for text in texts):
            raise ModelError("domain, signature, rules and versions must be texts")
        for name, weight in self.weights.items():
            if weight.dtype != np.float32:
                raise ModelError(f"weight {name} consists of {weight.dtype}, not of float32")
            if not np.isfinite(weight).all():
                raise ModelError(f"weight {name} has values that are not finite")

    @classmethod
    def of(
        cls,
        template: Template,
        network: NetworkSettings,
        weights: Weights,
        *,
        training: Mapping[str, Any] | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> Model:
        """Return the model of a template with weights; `versions` of other software that made it.

        Raises ModelError if the weights do not fit the template.
        """
        rules = template.rules
        model = cls(
            domain=rules.domain.name,
            signature=template.signature,
            rules=None if rules.program is None else rules.text,
            template=template.settings,
            network=network,
            weights=weights,
            training=training or {},
            versions={**present_versions(), **(versions or {})},
        )
        model._scorer(template)
        return model

    @property
    def signature_hash(self) -> str:
        """SHA-256 of the signature."""
        return hashlib.sha256(self.signature.encode()).hexdigest()

    def policy(self, domain: Domain, *, temperature: float | None = None) -> Policy:
        """Return the learned policy of the domain that the model was trained for.

        With a temperature, actions are sampled from the softmax of score / temperature. Raises
        ModelError if the model was trained for another domain.
        """
        if temperature is not None and not temperature > 0:
            raise ValueError("the temperature must be positive")
        rules = self.rules_for(domain)
        template = build_template(rules, self.template)
        if template.signature != self.signature:
            raise ModelError(
                f"the model was made for another domain of the name '{self.domain}'\n"
                + _difference(self.signature, template.signature)
            )
        return rules.with_scorer(self._scorer(template, temperature))

    def _scorer(self, template: Template, temperature: float | None = None) -> NetworkScorer:
        try:
            return NetworkScorer(template, self.network, self.weights, temperature=temperature)
        except ValueError as error:
            raise ModelError(f"the model's weights do not fit its rules: {error}") from None

    def rules_for(self, domain: Domain) -> Policy:
        """Return the policy without the network. Raises ModelError if the rules do not fit."""
        if domain.name != self.domain:
            raise ModelError(
                f"the model was made for the domain '{self.domain}', not for '{domain.name}'"
            )
        if self.rules is None:
            return Policy.applicable(domain)
        try:
            return Policy.parse(self.rules, domain, file="<rules of the model>")
        except RuleError as error:
            raise ModelError(f"the model's rules do not fit the domain:\n{error}") from None

    def __repr__(self) -> str:
        layers = counted(self.template.layers, "layer")
        return f"Model({self.domain!r}, {layers}, width {self.network.width})"

    def describe(self) -> dict[str, Any]:
        """Return the description in the file: everything but the weights."""
        return {
            "format": FORMAT,
            "domain": self.domain,
            "rules": self.rules,
            "template": asdict(self.template),
            "network": plain_values(self.network),
            "signature": self.signature,
            "signature_hash": self.signature_hash,
            "training": dict(self.training),
            "versions": dict(self.versions),
        }

    def write(self, path: str | Path) -> None:
        """Write the model file, complete or not at all; equal models give equal files.

        A model that cannot be written is saved in a folder for temporary files; the OutputError
        that is raised names it.
        """
        tensors = {name: np.ascontiguousarray(array) for name, array in self.weights.items()}
        description = self.describe()
        description[_CHECKSUM] = _checksum(description, tensors)
        data = save(tensors, metadata={_KEY: json.dumps(description, ensure_ascii=False)})
        _check_size(path, len(data), data, "model file", MOST_BYTES)
        write_or_save(Path(path), data, ".safetensors")

    @classmethod
    def read(cls, path: str | Path) -> Model:
        """Read a model file. Raises ModelError if it is not valid, and OSError."""
        metadata, tensors = read_container(Path(path), "model file", MOST_BYTES)
        if _KEY not in metadata:
            raise ModelError(f"{path} is a safetensors file, but not of Planlog")
        try:
            description = json.loads(metadata[_KEY])
            version = description["format"]
            if type(version) is not int or version < 1:
                raise ValueError(f"format {version}")
            if version > FORMAT:
                raise ModelError(
                    f"{path} has format {version}; this version of Planlog reads formats up to "
                    f"{FORMAT}"
                )
            weights = {name: _as_array(path, name, tensor) for name, tensor in tensors.items()}
            if description.pop(_CHECKSUM, None) != _checksum(description, weights):
                raise ModelError(f"{path} has been changed since it was written")
            if version == 1:
                description = _from_format_1(description)
            plain = ("domain", "signature", "rules", "training", "versions")
            return cls(
                **{name: description[name] for name in plain},
                template=TemplateSettings(**description["template"]),
                network=_network_settings(description["network"]),
                weights=weights,
            )
        except KeyError as error:
            raise ModelError(f"{path} has no {error} in its description") from None
        except (AttributeError, TypeError, ValueError, RecursionError) as error:
            raise ModelError(f"{path} has an invalid description: {error}") from None


def present_versions() -> dict[str, str]:
    """Return the versions of the software that makes a model."""
    return {
        "planlog": planlog.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _difference(model: str, domain: str) -> str:
    """Return the first line of each of two signatures that the other one lacks."""
    lines = []
    for title, own, other in (
        ("only in that one", model, domain),
        ("only in this one", domain, model),
    ):
        others = set(other.splitlines())
        different = [line for line in own.splitlines() if line not in others]
        lines += [f"  {title}: {line}" for line in different[:1]]
    return "\n".join(lines)


# Keys of format 1 whose names have changed since, in the description and all that it contains.
_RENAMED = {
    "over_derived": "derived_messages",
    "surveys": "search_labels",
    "surveyed_tasks": "search_labelled_tasks",
    "surveyed_states": "search_labelled_states",
    "members": "ensemble",
    "decisions": "choice_sets",
    "round": "iteration",
    "keep": "select_by",
    "rounds": "iterations",
    "effort": "expansions_per_step",
    "exact": "exact_states",
}
_RENAMED_SEARCH = {
    "states": "states_per_iteration",
    "steps": "labelled_steps",
    "expansions": "max_expansions",
}


def _from_format_1(value: Any, names: Mapping[str, str] = _RENAMED) -> Any:
    """Translate the keys of a description of format 1 into those of format 2."""
    if isinstance(value, list):
        return [_from_format_1(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {"surveys": {**_RENAMED, **_RENAMED_SEARCH}}
    return {
        names.get(key, key): _from_format_1(item, inner.get(key, _RENAMED))
        for key, item in value.items()
    }


def _network_settings(values: Mapping[str, Any]) -> NetworkSettings:
    def read(name: str, value: Any) -> Any:
        kind = type(getattr(NetworkSettings, name, None))
        return kind(value) if issubclass(kind, Enum) else value

    return NetworkSettings(**{name: read(name, value) for name, value in values.items()})


def read_container(
    path: Path, kind: str, most: int
) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Return the metadata of a safetensors file, and its tensors: dtype, shape and data by name.

    Raises ModelError, in which the file is called a `kind`, and OSError.
    """
    if is_stream(path):
        raise ModelError(f"{path} is no file")
    # The file is not mapped into memory: if it shrank meanwhile, the process would crash.
    size = path.stat().st_size
    data = b"" if size > most else read_input(path, most)
    _check_size(path, size, data, kind, most)
    try:
        tensors = dict(deserialize(data))  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ModelError(f"{path} is no {kind}, or part of it is missing: {error}") from None
    # The library does not return the metadata, but has checked the header: its length in 8 bytes,
    # then JSON.
    header = json.loads(data[8 : 8 + _header_length(data)])
    return header.get("__metadata__") or {}, tensors


def _check_size(path: str | Path, size: int, data: bytes, kind: str, most: int) -> None:
    if size > most:
        raise ModelError(f"{path} is too large for a {kind}: {size:,} bytes, of {most:,}")
    if len(data) >= 8 and _header_length(data) > MOST_HEADER_BYTES:
        raise ModelError(
            f"{path} is no {kind}, or its description is too large: "
            f"{_header_length(data):,} bytes, of {MOST_HEADER_BYTES:,}"
        )


def _header_length(data: bytes) -> int:
    return int.from_bytes(data[:8], "little")


def _as_array(path: str | Path, name: str, tensor: dict[str, Any]) -> npt.NDArray[np.float32]:
    if tensor["dtype"] != "F32":
        raise ModelError(f"{path}: weight {name} consists of {tensor['dtype']}, not of F32")
    return np.frombuffer(tensor["data"], dtype="<f4").astype(np.float32).reshape(tensor["shape"])


def _checksum(description: Mapping[str, Any], weights: Weights) -> str:
    # Sorted keys: the checksum does not depend on how the JSON is written.
    text = json.dumps(description, sort_keys=True, ensure_ascii=False, allow_nan=False)
    digest = hashlib.sha256(text.encode())
    for name in sorted(weights):
        digest.update(f"\n{name} {weights[name].shape}\n".encode())
        digest.update(weights[name].tobytes())
    return digest.hexdigest()

"""Model files: one safetensors file with everything that is needed to use a learned policy.

The header holds a description as JSON: rules, settings, the signature of the domain, and how the
model was made. Nothing in the file is ever executed.
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
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from planlog.errors import ModelError, RuleError
from planlog.execution import write_whole
from planlog.learned import LearnedPolicy
from planlog.policy import Policy
from planlog.settings import Activation, Aggregation, NetworkSettings
from planlog.task import Domain
from planlog.template import TemplateSettings, template_text

FORMAT = 1  # grows when older versions of Planlog can no longer read new files
_KEY = "planlog"


@dataclass(frozen=True)
class Model:
    """A learned policy as it is kept in a file."""

    domain: str  # its name
    signature: str  # hash of what the network depends on: types, predicates, actions, rules
    rules: str | None  # text of the rule file; None: all applicable actions
    template: TemplateSettings
    network: NetworkSettings
    weights: Mapping[str, npt.NDArray[np.float32]]
    training: Mapping[str, Any] = field(default_factory=dict)  # how it was made, for people
    versions: Mapping[str, str] = field(default_factory=dict)

    def policy(self, domain: Domain, *, temperature: float | None = None) -> LearnedPolicy:
        """The learned policy, for the domain it was made for; ModelError for another one."""
        rules = self.rules_for(domain)
        if signature_of(rules, self.template) != self.signature:
            raise ModelError(
                f"the model was made for another domain '{self.domain}': its types, predicates, "
                "actions or preconditions differ from those of this domain"
            )
        try:
            return LearnedPolicy(
                rules, self.template, self.network, self.weights, temperature=temperature
            )
        except ValueError as error:
            raise ModelError(f"the model's weights do not fit its rules: {error}") from None

    def rules_for(self, domain: Domain) -> Policy:
        """The rules alone."""
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

    def write(self, path: str | Path) -> None:
        """Write the model as a file that is never seen unfinished."""
        description = json.dumps(self._description(), sort_keys=True)
        tensors = {name: np.ascontiguousarray(array) for name, array in self.weights.items()}
        metadata = {_KEY: description, "checksum": _checksum(description, tensors)}
        write_whole(Path(path), save(tensors, metadata=metadata))

    @classmethod
    def read(cls, path: str | Path) -> Model:
        """The model of a file; ModelError if that cannot be used."""
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            # An unreadable file is reported as such by the system.
            Path(path).read_bytes()
            raise ModelError(
                f"{path} is no model file, or part of it is missing: {error}"
            ) from None
        if _KEY not in metadata:
            raise ModelError(f"{path} is a safetensors file, but not of Planlog")
        try:
            description = json.loads(metadata[_KEY])
            version = int(description["format"])
            if version > FORMAT:
                raise ModelError(
                    f"{path} has format {version}; this version of Planlog reads formats up to "
                    f"{FORMAT}"
                )
            if metadata.get("checksum") != _checksum(metadata[_KEY], tensors):
                raise ModelError(f"{path} has been changed since it was written")
            return cls(
                domain=str(description["domain"]),
                signature=str(description["signature"]),
                rules=description["rules"],
                template=TemplateSettings(**description["template"]),
                network=_network_settings(description["network"]),
                weights=tensors,
                training=dict(description["training"]),
                versions=dict(description["versions"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{path} has a description that makes no sense: {error}") from None

    def _description(self) -> dict[str, Any]:
        network = {
            key: value.value if isinstance(value, Enum) else value
            for key, value in asdict(self.network).items()
        }
        return {
            "format": FORMAT,
            "domain": self.domain,
            "signature": self.signature,
            "rules": self.rules,
            "template": asdict(self.template),
            "network": network,
            "training": dict(self.training),
            "versions": dict(self.versions),
        }


def signature_of(rules: Policy, settings: TemplateSettings) -> str:
    """A hash of the template with all preconditions, and of the types' hierarchy."""
    types = [f"{t.name} - {t.parent}" for t in rules.domain.types]
    text = "\n".join([*types, template_text(rules, settings)])
    return hashlib.sha256(text.encode()).hexdigest()


def present_versions() -> dict[str, str]:
    """What a model is made with."""
    import planlog

    return {
        "planlog": planlog.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _network_settings(described: Mapping[str, Any]) -> NetworkSettings:
    settings = dict(described)
    for key in ("message_activation", "atom_activation", "score_activation"):
        settings[key] = Activation(settings[key])
    settings["aggregation"] = Aggregation(settings["aggregation"])
    return NetworkSettings(**settings)


def _checksum(description: str, tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256(description.encode())
    for name in sorted(tensors):
        digest.update(f"{name}{tensors[name].shape}{tensors[name].dtype}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()

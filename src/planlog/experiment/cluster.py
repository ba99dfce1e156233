"""Workers on other machines, to which a Dask scheduler distributes the jobs.

Dask sends functions and arguments as pickles: whoever reaches a scheduler or a worker runs code on
it, and a scheduler runs code on its clients. So a connection that leaves this machine should use
TLS with certificates on both sides. This process is a client only and listens to nobody.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from os import getpid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from planlog.errors import PlanlogError
from planlog.experiment.jobs import Job
from planlog.experiment.worker_pool import WorkerPool, Workers

TIMEOUT = 10.0  # seconds until the scheduler answers
RETRIES = 3  # of a job whose machine disappears


class ClusterError(PlanlogError):
    """The scheduler does not answer, or Dask is not installed."""


@dataclass(frozen=True)
class Tls:
    """Files in PEM format: the certificate of the authority, and this client's with its key."""

    ca: Path
    cert: Path
    key: Path


def is_exposed(address: str) -> bool:
    """Return whether a connection leaves this machine without encryption."""
    scheme, _, rest = address.rpartition("://")
    if scheme in ("tls", "wss"):
        return False
    try:
        host = urlsplit(f"//{rest}").hostname or ""
        return host != "localhost" and not ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may be of any machine
        return True


@cache
def _pool(folder: str, process: int) -> WorkerPool:
    """Return the worker pool of a process; a fork of a Dask worker needs a pool of its own."""
    return WorkerPool(Path(folder))


def _perform(job: Job, folder: str) -> str:
    """Execute a job and return its record; Dask calls this on one of its machines."""
    return _pool(folder, getpid()).perform(job)


@contextmanager
def cluster_workers(address: str, folder: Path, tls: Tls | None = None) -> Iterator[Workers]:
    """Connect to a Dask scheduler; raise ClusterError if none answers within TIMEOUT seconds.

    With `tls` both sides must show certificates of the same authority; without it, Dask's own
    configuration applies. All machines see the results folder under the same path.
    """
    try:
        from distributed import Client
        from distributed.security import Security
    except ImportError:
        raise ClusterError("--cluster needs Dask: pip install 'planlog[cluster]'") from None
    security = Security()  # type: ignore[no-untyped-call]
    if tls is not None:
        security = Security(  # type: ignore[no-untyped-call]
            tls_ca_file=str(tls.ca),
            tls_client_cert=str(tls.cert),
            tls_client_key=str(tls.key),
            require_encryption=True,
        )
    _check_encryption(address, security, tls)
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False, security=security)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None
    threads = client.nthreads()  # type: ignore[no-untyped-call]
    executor = client.get_executor(pure=False, retries=RETRIES)  # type: ignore[no-untyped-call]
    with client, executor:
        try:
            submit = partial(executor.submit, _perform, folder=str(folder))
            yield Workers(sum(threads.values()), submit)
        finally:
            executor.shutdown(wait=False)  # nobody waits for the remaining jobs


def _check_encryption(address: str, security: Any, tls: Tls | None) -> None:
    """Raise ClusterError where address and certificates do not go together.

    Dask would raise errors that name neither, and leave a client that cannot be closed.
    """
    encrypted = address.startswith("tls://")
    if tls is not None and not encrypted:
        raise ClusterError(f"--tls-ca is given, but the address {address} is not tls://HOST:PORT")
    try:
        context = security.get_connection_args("client").get("ssl_context")
    except OSError as error:
        file = error.filename or (tls.cert if tls else "the configuration of Dask")
        raise ClusterError(f"{file}: no certificate and key in PEM format: {error}") from None
    if encrypted and context is None:
        raise ClusterError(f"{address} needs --tls-ca, --tls-cert and --tls-key")

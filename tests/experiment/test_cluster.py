"""Experiments on a Dask cluster: a real scheduler and real workers, one of which dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from planlog.cli import main
from planlog.experiment.cluster import is_exposed
from planlog.experiment.records import Status, read_records
from support.waiting import wait_until

# Dask serves its state over HTTP even without a dashboard, and on all interfaces by default.
HTTP = ["--dashboard-address", "127.0.0.1:0"]


def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", "--host", "127.0.0.1", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


@contextmanager
def running(
    folder: Path, workers: int, *options: str
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler, whose address is yielded, and its workers."""
    file = folder / "scheduler.json"
    scheduler = start(
        "dask_scheduler", "--port", "0", *HTTP, "--scheduler-file", str(file), *options
    )
    started: list[subprocess.Popen[bytes]] = []
    try:
        assert wait_until(file.exists)
        address = json.loads(file.read_text())["address"]
        for number in range(1, workers + 1):
            place = str(folder / f"worker-{number}")
            own = ["--nthreads", "1", "--no-nanny", *HTTP, "--local-directory", place]
            started.append(start("dask_worker", address, *own, *options))
        yield address, started
    finally:
        for process in (*started, scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its two workers."""
    with running(tmp_path, 2) as found:
        yield found


@pytest.mark.slow
def test_all_runs_complete_though_a_worker_is_killed(cluster, tmp_path: Path) -> None:
    address, workers = cluster
    out = tmp_path / "results"
    command = [
        sys.executable, "-m", "planlog", "experiment", "-o", str(out), "--cluster", address,
        "--domains", "ferry,blocksworld", "--splits", "easy", "--count", "10", "--layers", "none",
        "--planners", "exact", "--shipped", "--json",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    records = out / "records"
    # Both have done something, and there is much to do.
    assert wait_until(lambda: records.exists() and len(list(records.glob("*.jsonl"))) == 2)
    os.kill(workers[0].pid, signal.SIGKILL)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    answer = json.loads(output)
    assert answer["outcomes"] == {"solved": 2 * 10 * (3 + 1 + 1)}
    found = list(read_records(out))
    assert len(found) == answer["runs"]
    assert {record.status for record in found} == {Status.SOLVED}
    by_file = Counter(
        {file.name: len(file.read_bytes().splitlines()) for file in records.iterdir()}
    )
    assert min(by_file.values()) < max(by_file.values())  # one has done the rest
    assert b"Traceback" not in errors


def experiment(out: Path, *options: object) -> list[str]:
    """A command for three runs."""
    return [
        sys.executable, "-m", "planlog", "experiment", "-o", str(out), "--domains", "ferry",
        "--splits", "easy", "--count", "1", "--layers", "none", "--planners", "none", "--json",
        *map(str, options),
    ]  # fmt: skip


def openssl(folder: Path, *arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], cwd=folder, check=True, capture_output=True)


def make_authority(folder: Path) -> dict[str, Path]:
    """A certificate authority, and a certificate that it has signed."""
    folder.mkdir()
    new = ["req", "-newkey", "rsa:2048", "-nodes"]
    openssl(folder, *new, "-x509", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(folder, *new, "-subj", "/CN=localhost", "-keyout", "own.key", "-out", "own.csr")
    signed = ["-req", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    openssl(folder, "x509", *signed, "-in", "own.csr", "-out", "own.pem")
    return {"ca": folder / "ca.pem", "cert": folder / "own.pem", "key": folder / "own.key"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls_with_certificates_on_both_sides(tmp_path: Path) -> None:
    good, other = (make_authority(tmp_path / name) for name in ("good", "other"))
    files = [
        f"--{option}={good[name]}"
        for option, name in (("tls-ca-file", "ca"), ("tls-cert", "cert"), ("tls-key", "key"))
    ]

    def run(address: str, tls: dict[str, Path]) -> subprocess.CompletedProcess[str]:
        options = [f"--tls-{name}={file}" for name, file in tls.items()]
        command = experiment(tmp_path / "results", "--cluster", address, *options)
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    with running(tmp_path, 1, "--protocol", "tls", *files) as (address, _):
        assert address.startswith("tls://127.0.0.1:")
        done = run(address, good)
        assert (done.returncode, json.loads(done.stdout)["outcomes"]) == (0, {"solved": 3})
        assert "warning" not in done.stderr
        open_address = address.replace("tls://", "tcp://")
        swapped = {**good, "key": good["cert"]}
        for tried, tls, message in (
            (address, other, "no Dask scheduler answers"),
            (address, {}, "needs --tls-ca"),
            (open_address, {}, "no Dask scheduler answers"),
            (open_address, good, "is not tls://"),
            (address, swapped, "no certificate and key in PEM format"),
        ):
            done = run(tried, tls)
            assert done.returncode == 31, done.stderr
            assert message in json.loads(done.stdout)["message"]
            assert "Traceback" not in done.stderr


def listening(pids: set[int]) -> set[str]:
    """The addresses on which processes accept connections, as /proc describes them."""
    sockets = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            with suppress(OSError):
                sockets.add(str(link.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.add(fields[1].partition(":")[0])
    return found


def tree(root: int) -> set[int]:
    children = subprocess.run(["pgrep", "-P", str(root)], capture_output=True, text=True).stdout
    return {root}.union(*(tree(int(pid)) for pid in children.split()))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
def test_nothing_listens_beyond_this_machine(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    """The scheduler and the workers of the documentation listen on the loopback interface, and an
    experiment on nothing, with a cluster and without."""
    address, workers = cluster
    assert all(wait_until(lambda w=worker: bool(listening({w.pid}))) for worker in workers)  # type: ignore[misc]
    assert listening({worker.pid for worker in workers}) == {"0100007F"}
    assert json.loads((tmp_path / "scheduler.json").read_text())["address"].startswith(
        "tcp://127.0.0.1:"
    )
    for options in ([], ["--cluster", address]):
        out = tmp_path / f"results{len(options)}"
        command = experiment(out, "--seeds", 30, *options)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seen = set()
        while process.poll() is None:
            seen |= listening(tree(process.pid))
        output, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
        assert json.loads(output)["outcomes"] == {"solved": 30}
        assert seen == set()


@pytest.mark.parametrize(
    ("address", "exposed"),
    [
        ("tcp://127.0.0.1:8786", False),
        ("127.0.0.1:8786", False),
        ("localhost:8786", False),
        ("tcp://[::1]:8786", False),
        ("tls://10.0.0.1:8786", False),
        ("tcp://10.0.0.1:8786", True),
        ("10.0.0.1:8786", True),
        ("tcp://host.example:8786", True),
        ("", True),
    ],
)
def test_exposed_addresses(address: str, exposed: bool) -> None:
    assert is_exposed(address) is exposed


def test_options_of_tls_belong_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["experiment", "-o", str(tmp_path / "out"), "--tls-ca", "ca.pem"]
    assert main(arguments) == 36
    assert main([*arguments, "--tls-cert", "c.pem", "--tls-key", "c.key"]) == 36
    assert main([*arguments, "--tls-cert", "c", "--tls-key", "k", "--cluster", "tls://x"]) == 36
    err = capsys.readouterr().err
    assert "TLS needs all of" in err
    assert "are for a --cluster" in err
    assert "there is no such file" in err
    assert not (tmp_path / "out").exists()

"""Commands with their help texts; mistakes of users as messages and exit codes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from click.exceptions import Exit

from planlog.cli.console import emit_json, say
from planlog.cli.exit_codes import ExitCode
from planlog.errors import (
    MOST_DIAGNOSTICS,
    Diagnostic,
    InputError,
    MissingFileError,
    PlanlogError,
    SettingsError,
    UnsupportedError,
    clip,
)

CONTEXT_SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "max_content_width": 100,
}


class BadUsage(click.ClickException):
    """A mistake in the command line itself."""

    exit_code = ExitCode.USAGE

    def show(self, file: object = None) -> None:
        say(f"planlog: {self.message}")


class Command(click.Command):
    """A command that prints its help as written and turns user mistakes into messages."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        settings["context_settings"] = CONTEXT_SETTINGS | settings.get("context_settings", {})
        super().__init__(name, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with user_errors(as_json=bool(ctx.params.get("as_json"))):
            return super().invoke(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self.help or "", formatter)


class LazyGroup(click.Group):
    """A group that knows the names and summaries of its commands, and imports one to run it.

    Most of a command's start-up time is its imports, and `planlog doctor` has to run where other
    commands cannot even be imported.
    """

    def __init__(
        self, name: str, *, package: str, summaries: Mapping[str, str], **settings: Any
    ) -> None:
        super().__init__(name, context_settings=CONTEXT_SETTINGS, no_args_is_help=True, **settings)
        self._package = package
        self._summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._summaries:
            return None
        module = importlib.import_module(f"{self._package}.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self.help or "", formatter)


def write_help(text: str, formatter: click.HelpFormatter) -> None:
    """Write a help text with its own line breaks."""
    lines = (f"  {line}".rstrip() for line in text.strip().splitlines())
    formatter.write("\n" + "\n".join(lines) + "\n")


@contextmanager
def user_errors(as_json: bool = False) -> Iterator[None]:
    """Turn mistakes in files and exhausted resources into a message and an exit code."""
    try:
        yield
    except InputError as error:
        unsupported = isinstance(error, UnsupportedError)
        outcome = "unsupported" if unsupported else "bad input"
        code = ExitCode.UNSUPPORTED if unsupported else ExitCode.BAD_INPUT
        message = "\n".join([str(error), *getattr(error, "__notes__", ())])
        _fail(as_json, code, outcome, message, error.diagnostics)
    except (MissingFileError, SettingsError) as error:
        _fail(as_json, ExitCode.USAGE, "bad usage", str(error))
    except PlanlogError as error:
        _fail(as_json, ExitCode.BAD_INPUT, "bad input", str(error))
    except UnicodeDecodeError as error:
        text = f"not a text file in UTF-8: {error.reason} at byte {error.start}"
        _fail(as_json, ExitCode.BAD_INPUT, "bad input", text)
    except MemoryError:
        _fail(as_json, ExitCode.MEMORY_LIMIT, "memory limit", "out of memory")
    except TimeoutError:
        _fail(as_json, ExitCode.TIME_LIMIT, "time limit", "out of time")
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            raise
        _fail(as_json, ExitCode.BAD_INPUT, "bad input", f"{error.filename}: {error.strerror}")


def _fail(
    as_json: bool,
    code: ExitCode,
    outcome: str,
    message: str,
    diagnostics: tuple[Diagnostic, ...] = (),
) -> None:
    if not diagnostics:
        message = clip(message)
    if as_json:
        located = [
            {
                "file": d.file,
                "line": d.line,
                "column": d.column,
                "severity": d.severity.value,
                "message": clip(d.message),
                "hint": clip(d.hint),
            }
            for d in diagnostics[:MOST_DIAGNOSTICS]
        ]
        count = len(diagnostics)
        emit_json(
            {
                "outcome": outcome,
                "message": message,
                "diagnostics": located,
                "diagnostic_count": count,
            }
        )
    else:
        # A diagnostic begins with its location; any other message names the program.
        say(message if diagnostics else f"planlog: {message}")
    raise Exit(code)

"""Commands with their help texts; mistakes of users as messages and exit codes."""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import IO, Any

import click
from click.exceptions import Exit

from planlog.cli.console import emit, emit_json, say
from planlog.cli.exit_codes import ExitCode
from planlog.errors import (
    MOST_SHOWN,
    InputError,
    MissingFileError,
    NothingToLearnError,
    PlanlogError,
    SettingsError,
    UnsupportedError,
    clip,
)
from planlog.files import OutputError, explain, inputs_read_once

CONTEXT_SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "max_content_width": 100,
}


class BadUsage(click.ClickException):
    """A mistake in the command line itself."""

    exit_code = ExitCode.USAGE

    def show(self, file: IO[Any] | None = None) -> None:
        print(f"planlog: {clip(self.message)}", file=file or sys.stderr)


class _OwnHelp(click.Command):
    """A command that prints its help as written, and fails if it cannot be printed."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self.help or "", formatter)


def _show_help(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        emit(context.get_help())
        context.exit()


class Command(_OwnHelp):
    """A command that keeps its limits and turns user mistakes into messages."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        settings["context_settings"] = CONTEXT_SETTINGS | settings.get("context_settings", {})
        super().__init__(name, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _limited(ctx) as check, inputs_read_once(check):
                return super().invoke(ctx)
        except Exception as error:
            if (failure := _failure(error)) is None:
                raise
            code, outcome, message = failure
            if ctx.params.get("as_json"):
                _report_as_json(error, outcome, message)
            else:
                # A diagnostic begins with its location; any other message names the program.
                say(message if isinstance(error, InputError) else f"planlog: {message}")
            raise Exit(code) from None


class LazyGroup(_OwnHelp, click.Group):
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


@contextmanager
def _limited(ctx: click.Context) -> Iterator[Callable[[], None] | None]:
    """Keep the limits that the options of a command give; yield a check of the memory."""
    try:
        from planlog.cli.limits import OutOfTime, check_memory, limited
    except ImportError:  # `planlog doctor` reports a core that cannot be imported
        yield None
        return
    time_limit, memory_limit = map(ctx.params.get, ("time_limit", "memory_limit"))
    try:
        with limited(time_limit, memory_limit, as_json=bool(ctx.params.get("as_json"))):
            yield None if memory_limit is None else partial(check_memory, memory_limit)
    except OutOfTime:
        raise TimeoutError from None


def write_help(text: str, formatter: click.HelpFormatter) -> None:
    """Write a help text with its own line breaks."""
    lines = (f"  {line}".rstrip() for line in text.strip().splitlines())
    formatter.write("\n" + "\n".join(lines) + "\n")


def _failure(error: Exception) -> tuple[ExitCode, str, str] | None:
    """Return exit code, outcome and message of a user's mistake or an exhausted resource."""
    match error:
        case UnsupportedError():
            return ExitCode.UNSUPPORTED, "unsupported", str(error)
        case MissingFileError() | SettingsError():
            return ExitCode.USAGE, "bad usage", clip(str(error))
        case InputError():
            text = "\n".join([str(error), *getattr(error, "__notes__", ())])
            return ExitCode.BAD_INPUT, "bad input", text
        case NothingToLearnError():
            return ExitCode.NO_PLAN, "nothing to learn", str(error)
        case PlanlogError():
            return ExitCode.BAD_INPUT, "bad input", clip(str(error))
        case UnicodeDecodeError():
            text = f"not a text file in UTF-8: {error.reason} at byte {error.start}"
            return ExitCode.BAD_INPUT, "bad input", text
        case MemoryError():
            return ExitCode.MEMORY_LIMIT, "memory limit", str(error) or "out of memory"
        case TimeoutError():
            return ExitCode.TIME_LIMIT, "time limit", "out of time"
        case OutputError():
            return ExitCode.OUTPUT, "output not written", clip(explain(error))
        case OSError():
            return _system_failure(error)
    return None


def _system_failure(error: OSError) -> tuple[ExitCode, str, str]:
    """Return exit code, outcome and message of what the system refused, other than an output."""
    message = clip(explain(error))
    if error.errno == errno.ENOMEM:
        return ExitCode.MEMORY_LIMIT, "memory limit", message
    if error.filename is None:
        return ExitCode.CRITICAL, "system error", message
    return ExitCode.BAD_INPUT, "bad input", message


def _report_as_json(error: Exception, outcome: str, message: str) -> None:
    diagnostics = error.diagnostics if isinstance(error, InputError) else ()
    located = [
        {
            "file": d.file,
            "line": d.line,
            "column": d.column,
            "severity": d.severity.value,
            "message": d.message,
            "hint": d.hint,
        }
        for d in diagnostics[:MOST_SHOWN]
    ]
    counts = {"diagnostics": located, "diagnostic_count": len(diagnostics)}
    emit_json({"outcome": outcome, "message": message, **counts})

"""Runs mpitx, and reads the tables that it prints."""

import contextlib
import csv
import io
import json
import operator
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import Any, IO, Iterable, Iterator, List, Optional, Sequence, Union

try:
    import pandas
except ImportError:
    pandas = None

Table = Any  # a pandas.DataFrame, or a list of dicts: a union would need a check at each use


class Error(Exception):
    """mpitx could not answer. The text is mpitx's own message; `code` is its exit code."""

    def __init__(self, message: str, code: Optional[int] = None):
        super().__init__(message)
        self.code = code


class NotFound(Error):
    """There is no program mpitx."""


class Incomplete(Error):
    """A part of the data is lost or damaged. With partial=True, the rest is returned, and the message becomes a Warning."""


class Warning(UserWarning):
    """mpitx answered, and has something to say about the answer."""


def program() -> str:
    """The path of mpitx: $MPITX, or mpitx in PATH."""
    named = os.environ.get("MPITX")
    found = shutil.which(named or "mpitx")
    if found:
        return found
    if named:
        raise NotFound(f"MPITX={named}: there is no such program; set MPITX to the path of mpitx")
    raise NotFound("mpitx is not in PATH; install it, or set the environment variable MPITX to its path")


def start(command: Sequence[str], messages: Union[int, IO[bytes]]) -> "subprocess.Popen[bytes]":
    """Starts a command whose standard output is read."""
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages)
    except OSError as error:
        raise Error(f"{command[0]} cannot be started: {error.strerror}") from error
    except (TypeError, ValueError) as error:  # such as a name that is a number, or has a zero byte
        raise Error(f"mpitx cannot be started with these arguments: {error}") from error


@contextlib.contextmanager
def output(command: Sequence[str], partial: bool, warn: bool = True) -> Iterator[IO[bytes]]:
    """The standard output of a command. At its end, mpitx's messages become exceptions, or warnings at the caller's line."""
    with tempfile.TemporaryFile() as messages:
        with start(command, messages) as process:
            assert process.stdout
            yield process.stdout
            process.stdout.read()
        messages.seek(0)
        said = messages.read().decode("utf-8", "replace").strip()
    said = "\n".join(line[len("mpitx: "):] if line.startswith("mpitx: ") else line for line in said.splitlines())
    if process.returncode == 3 and not partial:
        raise Incomplete(said, 3)
    if process.returncode not in (0, 3):
        raise Error(said or f"mpitx ended with code {process.returncode}", process.returncode)
    if said and warn:
        warnings.warn(said, Warning, stacklevel=_depth())


def _depth() -> int:
    """How many frames the function that calls this one is below the caller of the package."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in (__name__.partition(".")[0], "contextlib"):
        frame, depth = frame.f_back, depth + 1
    return depth


def lines(command: Sequence[str], count: int) -> List[str]:
    """The first lines that a command prints; fewer if it has not so many, or fails."""
    with start(command, subprocess.DEVNULL) as process:
        assert process.stdout
        found = [process.stdout.readline().decode() for _ in range(count)]
        process.kill()
    return [line for line in found if line]


def text(command: Sequence[str], partial: bool, warn: bool = True) -> bytes:
    """All that a command prints."""
    with output(command, partial, warn) as out:
        return out.read()


def parsed(document: Union[str, bytes]) -> Any:
    """The value of JSON that mpitx printed."""
    try:
        return json.loads(document)
    except ValueError as error:
        raise Error(f"{program()} printed no JSON: {error}; set MPITX to the path of mpitx") from error


# Columns that are text whatever their cells look like.
TEXTS = frozenset(
    "algorithm as bound call carried_by class communicator component condition decision device end event evidence flow for_function"
    " function functions host host_a host_b incomplete incomplete_ranks kind look made_by max_ranks min_ranks name next node object"
    " operation outside parent parts phase place present queue rule settings site stack state status subject text unit unknown"
    " variable way what within wrong".split()
)


def chosen(pandas_wanted: Optional[bool]) -> bool:
    """Whether tables are DataFrames."""
    if pandas_wanted and pandas is None:
        raise Error("pandas=True: pandas cannot be imported; install it")
    return pandas is not None if pandas_wanted is None else pandas_wanted


def json_table(command: Sequence[str], partial: bool, frames: bool) -> Table:
    """The table that a command prints as NDJSON, whose cells may be lists and objects."""
    with output(command, partial) as out:
        rows = [parsed(line) for line in out]
    return pandas.DataFrame(rows) if frames else rows


def table(command: Sequence[str], partial: bool, frames: bool, texts: Sequence[str] = (), integers: Sequence[str] = ()) -> Table:
    """The table that a command prints as CSV. Empty cells of numbers are None; in a DataFrame NaN, or <NA> of integers.

    texts are columns of this table besides TEXTS, integers such that may be missing.
    """
    with output(command, partial) as out:
        head = out.readline().decode()
        columns: List[str] = next(csv.reader([head]), [])
        named = TEXTS.union(texts)
        rows: Table = []
        if frames:
            rows = _frame(out, columns, named, integers)
        else:
            reader = csv.reader(io.TextIOWrapper(out, "utf-8", newline=""))
            words = [c in named for c in columns]
            rows = [{c: cell if word else _number(cell) for c, word, cell in zip(columns, words, row)} for row in reader]
    if not columns:
        raise Error("mpitx printed nothing; in an MPI job, only rank 0 has an answer")
    return rows


def _frame(out: IO[bytes], columns: List[str], texts: Iterable[str], integers: Iterable[str]) -> "pandas.DataFrame":
    numbers = [c for c in columns if c not in texts]
    types = {c: str if c in texts else "Int64" for c in columns if c in texts or c in integers}
    try:
        rows = pandas.read_csv(
            out, names=columns, header=None, dtype=types, keep_default_na=False, na_values={c: ["", "NaN"] for c in numbers},
            low_memory=False, float_precision="round_trip", encoding="utf-8",
        )
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame(columns=columns)
    for c in numbers:
        if rows[c].dtype == object:  # texts among the numbers
            rows[c] = [_number(v) if isinstance(v, str) else v for v in rows[c]]
    return rows


def _number(cell: str) -> Any:
    """A cell as int, float, bool or None; text if it is none of them."""
    if cell == "":
        return None
    if cell in ("true", "false"):
        return cell == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(cell)
    return cell


def flags(**options: Any) -> List[str]:
    """Options as flags: rank=[0, 1] is --rank 0,1; function=["A", "B"] is --function A --function B; None and False are left out.

    mpitx checks the values: True is --flag=true, which only flags without a value take.
    """
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None:
            continue
        if name == "rank":
            words += [flag, ",".join(map(_whole, _several(value)))]
        elif value is True:
            words.append(flag + "=true")
        elif name in ("from_", "to"):
            words += [flag, _time(value)]
        elif value is not False:
            words += [w for v in _several(value) for w in (flag, str(v))]
    return words


def _several(value: Any) -> List[Any]:
    """The members of a list, tuple, array …; any other value is its only member."""
    if not isinstance(value, (str, bytes)):
        with contextlib.suppress(TypeError):
            return list(value)
    return [value]


def _whole(value: Any) -> str:
    """A rank as text, also if it is an integer of numpy."""
    with contextlib.suppress(TypeError):
        return str(value if isinstance(value, bool) else operator.index(value))
    return str(value)


def _time(value: Any) -> str:
    """A number of seconds as the flags --from and --to have it; what is no number is left to mpitx."""
    if not isinstance(value, (str, bool)):
        with contextlib.suppress(TypeError, ValueError):
            return f"{value:.9f}s"
    return str(value)

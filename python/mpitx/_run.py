"""A run directory of mpitx."""

import csv
import datetime
import os
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _command
from ._command import Table, flags

Ranks = Union[int, str, Sequence[int], None]
Names = Union[str, Sequence[str], None]
Time = Union[float, str, None]


def open(run: Union[str, "os.PathLike[str]"], *, partial: bool = False, pandas: Optional[bool] = None) -> "Run":
    """Opens a run directory, which may still be recording.

    partial: return what there is of a run with damaged or lost parts, with a Warning, rather than raise Incomplete.
    pandas: True for DataFrames, False for lists of dicts; by default, DataFrames if pandas can be imported.
    """
    return Run(run, partial=partial, pandas=pandas)


class Run:
    """A run. Tables are read again with each call. `info` is its line of `mpitx runs`: program, started, ranks, recorded, state …

    Options choose a part: rank (3, [0, 1] or "0-3,7"), from_ and to (seconds since the start of the job, or a text such as "500ms"),
    phase, function and comm (a text or a list of texts). Not every table takes all: mpitx says which.
    """

    def __init__(self, run: Union[str, "os.PathLike[str]"], *, partial: bool = False, pandas: Optional[bool] = None):
        self.path = os.fspath(run)
        if self.path.startswith("-"):
            self.path = os.path.join(".", self.path)
        self.partial = partial
        self.frames = _command.chosen(pandas)
        self._start: Optional[str] = None
        listed = [_command.parsed(line) for line in _command.lines(self._words("runs", "-o", "ndjson"), 1)]
        if not listed or listed[0]["run"] != self.path:
            self._table("where")  # raises if it is not a run
        self.info: Dict[str, Any] = listed[0] if listed else {}

    def __repr__(self) -> str:
        return f"mpitx.open({self.path!r})"

    def _words(self, name: str, *words: str) -> List[str]:
        return [_command.program(), name, self.path, *words]

    def _table(self, name: str, *words: str, texts: Sequence[str] = (), integers: Sequence[str] = ()) -> Table:
        return _command.table(self._words(name, *words, "-o", "csv"), self.partial, self.frames, texts, integers)

    @property
    def start(self) -> datetime.datetime:
        """The wall clock of time 0, in UTC."""
        return datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=self.start_ns // 1000)

    @property
    def start_ns(self) -> int:
        """The wall clock of time 0, in nanoseconds since 1970. Add it to columns that end in _at_ns, first_ns and last_ns."""
        if self._start is None:
            rows = list(csv.DictReader(_command.lines(self._words("export", "-o", "csv", "--with-start"), 2)))
            self._start = rows[0]["start"] if rows else self.document("ranks")["run"]["start"]  # of a run with a profile only
        return _nanoseconds(self._start)

    def document(self, view: str, **options: Any) -> Dict[str, Any]:
        """The JSON document of `mpitx report RUN VIEW`, with what tables lack: histograms, stacks, findings."""
        command = self._words("report", view, *flags(**options), "-o", "json")
        return _command.parsed(_command.text(command, self.partial))

    def samples(self, *variables: str, rank: Ranks = None, from_: Time = None, to: Time = None,
                as_: Optional[str] = None, nonzero: bool = False, phase: Names = None) -> Table:
        """The values of performance variables over time: `time` in seconds since the start of the job, `at` the wall clock.

        variables are globs. as_ is raw, delta or rate. `unit` is ns, s, B or nothing.
        """
        if "samples" not in self.info.get("recorded", ()):
            self.report("samples")  # raises, unless the run has samples by now: mpitx export would write the trace
        return self._timed(variables, rank=rank, from_=from_, to=to, as_=as_, nonzero=nonzero, phase=phase)

    def trace(self, *, rank: Ranks = None, from_: Time = None, to: Time = None, derive: Names = None) -> Table:
        """All rows of the trace: calls, both ends of messages, phases and events; `time` and `duration` in seconds."""
        return self._timed((), trace=True, rank=rank, from_=from_, to=to, derive=derive)

    def calls(self, **part: Any) -> Table:
        """The calls of the trace; options as of trace."""
        return self._kinds(("call",), part)

    def messages(self, **part: Any) -> Table:
        """Both ends of the messages of the trace, which have the same `flow`; options as of trace."""
        return self._kinds(("send", "receive"), part)

    def _kinds(self, kinds: Sequence[str], part: Dict[str, Any]) -> Table:
        rows = self.trace(**part)
        if self.frames:
            return rows[rows["kind"].isin(kinds)].reset_index(drop=True)
        return [r for r in rows if r["kind"] in kinds]

    def _timed(self, names: Sequence[str], **options: Any) -> Table:
        integers = ("element", "peer", "tag", "request", "sequence")
        rows = self._table("export", *names, *flags(**options), integers=integers)
        if self.frames:
            times = (rows["time"].astype(float) * 1e9).round().astype("int64")
            rows["at"] = _command.pandas.to_datetime(times + self.start_ns, utc=True)
        else:
            zero = self.start
            for r in rows:
                r["at"] = zero + datetime.timedelta(seconds=r["time"])
        return rows

    def functions(self, *, by_rank: bool = False, rank: Ranks = None, phase: Names = None, comm: Names = None,
                  function: Names = None) -> Table:
        """MPI functions by time; times in nanoseconds. by_rank: a row for each function and rank."""
        return self.report("functions", by_rank=by_rank, rank=rank, phase=phase, comm=comm, function=function)

    def sites(self, *, rank: Ranks = None, phase: Names = None, comm: Names = None, function: Names = None) -> Table:
        """Call sites by time."""
        return self.report("sites", rank=rank, phase=phase, comm=comm, function=function)

    def ranks(self, *, rank: Ranks = None, phase: Names = None) -> Table:
        """Ranks: host, time in MPI and outside, processor time."""
        return self.report("ranks", rank=rank, phase=phase)

    def matrix(self, *, rank: Ranks = None, phase: Names = None, one_sided: bool = False) -> Table:
        """Messages and bytes from `source` to `destination`, ranks of MPI_COMM_WORLD."""
        return self.report("matrix", rank=rank, phase=phase, one_sided=one_sided)

    def waits(self, table: str = "states", *, rank: Ranks = None, from_: Time = None, to: Time = None) -> Table:
        """Why ranks waited: table states, rest, causes, path, efficiency, parts or gains."""
        return self.report("waits", table=table, rank=rank, from_=from_, to=to)

    def advice(self) -> Table:
        """Settings that may make the program faster, and why."""
        return self.report("advice")

    def where(self, *, stack: int = 0) -> Table:
        """What each rank does now, or did when it ended; `ranks` as text, such as 0-2,4."""
        return self._table("where", *flags(stack=stack or None), texts=("ranks", "for"))

    def report(self, view: str, *names: str, **options: Any) -> Table:
        """The table of any view of `mpitx report`: phases, communicators, sizes, algorithms, paths, queues, samples …"""
        texts = ("ranks",) if view in ("waits", "events", "triggers") else ()
        return self._table("report", view, *flags(**options), *names, texts=texts)


def _nanoseconds(text: str) -> int:
    """A time of RFC 3339 in UTC, in nanoseconds since 1970."""
    seconds, _, fraction = text.rstrip("Z").partition(".")
    whole = datetime.datetime.strptime(seconds + "+0000", "%Y-%m-%dT%H:%M:%S%z")
    return int(whole.timestamp()) * 10**9 + int(fraction.ljust(9, "0"))

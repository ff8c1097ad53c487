"""What an MPI library has: its variables, categories, enumerations and events."""

import json
import os
import tempfile
from typing import Any, Dict, Optional, Sequence, Union

from . import _command
from ._command import Error, Table, flags

FIELDS = {
    "cvars": "name,value,item,type,scope,verbosity,stage,set,differs,status,reason,writable,category,enum,description",
    "pvars": "name,class,value,count,type,bind,verbosity,stage,flags,differs,status,reason,category,description",
    "virtual": "name,class,type,unit,flags,description",
    "events": "name,interface,support,bind,verbosity,stage,status,reason,elements,category,description",
    "categories": "name,stage,category,description",
}


def catalog(mpi: Optional[str] = None, *, ranks: Optional[int] = None, launcher: Sequence[str] = (),
            snapshot: Union[str, "os.PathLike[str]", None] = None, partial: bool = False, pandas: Optional[bool] = None) -> "Catalog":
    """Reads an MPI library, as `mpitx snapshot` does, or a file that it wrote (snapshot).

    mpi: openmpi, mpich, abi, demo, an installation prefix, or a libmpi file; by default as mpitx chooses.
    ranks: start so many ranks with the library's launcher. launcher: start mpitx with this command, as ["srun", "-n", "4"].
    partial and pandas: as of open.
    """
    return Catalog(mpi, ranks=ranks, launcher=launcher, snapshot=snapshot, partial=partial, pandas=pandas)


class Catalog:
    """A library as it was when it was read. `document` is the snapshot: docs/schema.md describes it.

    Tables take globs of names, and the filters of `mpitx list` as keywords: search="eager limit", changed=True, differing=True,
    scope="all-eq", category="coll*", fields="name,value,ranks". Values have their types; `differs` has the ranks with others.
    """

    def __init__(self, mpi: Optional[str] = None, *, ranks: Optional[int] = None, launcher: Sequence[str] = (),
                 snapshot: Union[str, "os.PathLike[str]", None] = None, partial: bool = False, pandas: Optional[bool] = None):
        self.partial = partial
        self.frames = _command.chosen(pandas)
        if snapshot is None:
            command = [*launcher, _command.program(), "snapshot", *flags(mpi=mpi, ranks=ranks)]
            text = _command.text(command, partial)
            self._file = tempfile.NamedTemporaryFile(prefix="mpitx-", suffix=".json")
            self._file.write(text)
            self._file.flush()
            self._path = self._file.name
        elif mpi is not None or ranks is not None or launcher:
            raise Error("snapshot: a file has one library; leave mpi, ranks and launcher out")
        else:
            self._path = os.fspath(snapshot)
            # Raises if it is not a snapshot. That it has no enumerations was not asked.
            _command.text([_command.program(), "list", "enums", "--from", self._path, "-o", "ndjson"], partial, warn=False)

    @property
    def document(self) -> Dict[str, Any]:
        """The whole snapshot."""
        with open(self._path, encoding="utf-8") as file:
            return json.load(file)

    def cvars(self, *names: str, **filters: Any) -> Table:
        """Control variables."""
        return self._table("cvars", *names, **filters)

    def pvars(self, *names: str, **filters: Any) -> Table:
        """Performance variables."""
        return self._table("pvars", *names, **filters)

    def virtual(self, *names: str, **filters: Any) -> Table:
        """mpitx's own performance variables, such as mpitx:calls, which samples of any MPI can have."""
        return self._table("virtual", *names, **filters)

    def events(self, *names: str, **filters: Any) -> Table:
        """Events of MPI_T and PERUSE."""
        return self._table("events", *names, **filters)

    def categories(self, *names: str, **filters: Any) -> Table:
        """Categories."""
        return self._table("categories", *names, **filters)

    def enums(self, *names: str, **filters: Any) -> Table:
        """Enumerations."""
        return self._table("enums", *names, **filters)

    def _table(self, kind: str, *names: str, **filters: Any) -> Table:
        filters.setdefault("fields", FIELDS.get(kind))
        command = [_command.program(), "list", kind, *names, "--from", self._path, *flags(**filters), "-o", "ndjson"]
        return _command.json_table(command, self.partial, self.frames)

"""Runs and variables of MPI libraries, as the program mpitx has them.

    import mpitx

    run = mpitx.open("run1")
    print(run.functions())          # a pandas DataFrame; without pandas a list of dicts
    mpitx.catalog(ranks=4).cvars(differing=True)

Every table is the CSV of an mpitx command, so columns, units and rules are those of docs/schema.md. The program is $MPITX, or mpitx in
PATH.
"""

from ._catalog import Catalog, catalog
from ._command import Error, Incomplete, NotFound, Table, Warning
from ._run import Run, open

__all__ = ["Catalog", "Error", "Incomplete", "NotFound", "Run", "Table", "Warning", "catalog", "open"]

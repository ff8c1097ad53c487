"""Tests of the package on the runs in $MPITX_TEST_RUNS: its tables are what mpitx itself says in JSON.

cmd/mpitx/python_test.go runs them, with pandas and without.
"""

import ast
import collections
import csv
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import mpitx
from mpitx import _command

RUNS = os.environ["MPITX_TEST_RUNS"].split(":")
DAMAGED = os.environ.get("MPITX_TEST_DAMAGED")
VIEWS = "functions sites ranks phases communicators sizes algorithms arrivals advice matrix paths queues waits samples events triggers".split()


def answer(*words):
    done = subprocess.run([_command.program(), *words], capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def dicts(table):
    """Any table as a list of dicts, with None for what is missing."""
    if isinstance(table, list):
        return table
    missing = table.isna()
    rows = table.astype(object).where(~missing, None).to_dict("records")
    return [{k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in r.items()} for r in rows]


def same(value):
    """A cell of CSV or JSON, so that both can be compared."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: ""}[value]
    if isinstance(value, (int, float)):
        return format(value, ".12g")
    return str(value)


class Tables(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", mpitx.Warning)
        self.runs = [mpitx.open(name) for name in RUNS]
        self.seen = collections.Counter()

    def check(self, what, table, wanted, columns):
        """The columns of a table are those of objects from JSON, whose empty fields may be missing."""
        self.seen[what] += len(wanted)
        self.assertEqual([[same(r[c]) for c in columns] for r in dicts(table)], [[same(w.get(c)) for c in columns] for w in wanted], what)

    def test_reports(self):
        for run in self.runs:
            if "profile" not in run.info["recorded"]:
                continue
            document = run.document("functions")
            totals = ["calls", "time_ns", "bytes_sent", "messages_received"]
            self.check("functions", run.functions(), document["functions"], ["name", "min_ns", "max_ns", *totals])
            self.check("sites", run.sites(), document["sites"], ["name", "site", *totals])
            self.check("ranks", run.ranks(), document["ranks"], ["rank", "host", "state", "useful_ns", *totals])
            self.check("matrix", run.matrix(), document["matrix"], ["source", "destination", "messages", "bytes"])
            self.check("by rank", run.functions(by_rank=True, rank=[0]), json.loads(answer("report", run.path, "functions", "--by-rank", "--rank", "0", "-o", "json")[1])["rows"], ["name", "rank", *totals])
        self.assertEqual([n for n in self.seen if not self.seen[n]], [])
        self.assertGreater(len(self.seen), 4)

    def test_waits(self):
        for run in self.runs:
            if "trace" in run.info["recorded"]:
                document = run.document("waits")
                self.check("states", run.waits(), document["states"], ["kind", "rank", "function", "calls", "waiting_ns", "for", "for_ns"])
                self.check("causes", run.waits("causes"), document["causes"], ["what", "rank", "function", "cost_ns"])
        self.assertTrue(self.seen["states"] and self.seen["causes"])

    def test_samples(self):
        for run in self.runs:
            if "samples" not in run.info["recorded"]:
                continue
            code, text, _ = answer("export", run.path, "-o", "json")
            document = json.loads(text)
            rows = run.samples()
            self.check("samples", rows, document["samples"], ["time", "rank", "host", "variable", "object", "element", "value", "status", "unit"])
            self.at(run, rows, document["start"])
            most = max(float(r["time"]) for r in dicts(rows))
            name = dicts(rows)[0]["variable"]
            part = dicts(run.samples(name[:-1] + "?", rank="0", to=most * 0.9))
            self.assertTrue(0 < len(part) < len(rows))
            self.assertEqual({(r["rank"], r["variable"], r["time"] <= most * 0.9) for r in part}, {(0, name, True)})
        self.assertTrue(self.seen["samples"])

    def test_trace(self):
        for run in self.runs:
            if "trace" not in run.info["recorded"]:
                continue
            wanted = [json.loads(line) for line in answer("export", run.path, "--trace", "-o", "ndjson", "--with-start")[1].splitlines()]
            columns = "time rank thread kind name object peer tag bytes request sequence flow site status operation algorithm".split()
            self.check("trace", run.trace(), wanted, columns)
            self.check("calls", run.calls(), [w for w in wanted if w["kind"] == "call"], columns)
            self.check("messages", run.messages(), [w for w in wanted if w["kind"] in ("send", "receive")], columns)
            self.at(run, run.trace(), wanted[0]["start"])
        self.assertTrue(self.seen["messages"])

    def at(self, run, rows, start):
        """The wall clock of a row is its time after the start."""
        self.assertEqual(run.start_ns, _nanoseconds(start))
        row = dicts(rows)[-1]
        after = row["at"] - run.start
        self.assertAlmostEqual(after.total_seconds(), row["time"], delta=2e-6)
        self.assertEqual(row["at"].utcoffset().total_seconds(), 0)

    def test_where(self):
        for run in self.runs:
            code, text, said = answer("where", run.path, "-o", "csv")
            if code:
                with self.assertRaises(mpitx.Error) as caught:
                    run.where()
                self.assertEqual("mpitx: " + str(caught.exception), said.strip())
            else:
                self.check("where", run.where(), list(csv.DictReader(text.splitlines())), ["ranks", "state", "end"])

    # Texts stay texts, also if they look like numbers, and numbers are numbers.
    def test_types(self):
        tables = 0
        for run in self.runs:
            for view in VIEWS:
                with self.subTest(run=run.path, view=view):
                    code, text, _ = answer("report", run.path, view, "-o", "csv")
                    if code:
                        with self.assertRaises(mpitx.Error):
                            run.report(view)
                        continue
                    tables += 1
                    rows = dicts(run.report(view))
                    wanted = list(csv.DictReader(text.splitlines()))
                    self.assertEqual(len(rows), len(wanted))
                    for row, cells in zip(rows, wanted):
                        for name, cell in cells.items():
                            value = row[name]
                            kept = isinstance(value, str) and value == cell
                            if name in _command.TEXTS:
                                self.assertTrue(kept, (name, value, cell))
                            elif not kept:
                                self.assertEqual(same(value), same(_command._number(cell)), name)
        self.assertGreater(tables, 10)

    @unittest.skipUnless(_command.pandas, "compares with pandas")
    def test_without_frames(self):
        for run in self.runs:
            plain = mpitx.open(run.path, pandas=False)
            for name in ("ranks", "trace", "samples"):
                try:
                    rows = getattr(plain, name)()
                except mpitx.Error:
                    continue
                self.assertIsInstance(rows, list)
                columns = [c for c in rows[0] if c != "at"]
                self.check(name, getattr(run, name)(), rows, columns)
        self.assertTrue(self.seen)

    @unittest.skipUnless(_command.pandas, "compares with pandas")
    def test_dtypes(self):
        for run in self.runs:
            if "trace" in run.info["recorded"]:
                types = run.trace().dtypes
                self.assertEqual({str(types[c]) for c in ("peer", "tag", "request", "sequence")}, {"Int64"})
                self.assertEqual(str(types["at"]), "datetime64[ns, UTC]")


def _nanoseconds(text):
    seconds, _, fraction = text.rstrip("Z").partition(".")
    import calendar, time

    return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int((fraction + "0" * 9)[:9])


class Errors(unittest.TestCase):
    def fails(self, kind, code, words, call, *arguments, **named):
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        self.assertIs(type(caught.exception), kind)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(words, str(caught.exception))
        self.assertFalse(str(caught.exception).startswith("mpitx:"))

    def test_program(self):
        saved = {name: os.environ.get(name) for name in ("MPITX", "PATH")}
        self.addCleanup(lambda: [os.environ.pop(n, None) if v is None else os.environ.update({n: v}) for n, v in saved.items()])
        os.environ["MPITX"] = "/no/such/mpitx"
        self.fails(mpitx.NotFound, None, "MPITX=/no/such/mpitx: there is no such program", mpitx.open, RUNS[0])
        with tempfile.TemporaryDirectory() as folder:
            os.environ["MPITX"] = os.path.join(folder, "text")
            pathlib.Path(os.environ["MPITX"]).write_text("not a program")
            os.chmod(os.environ["MPITX"], 0o755)
            self.fails(mpitx.Error, None, "/text cannot be started: Exec format error", mpitx.open, RUNS[0])
        os.environ["MPITX"] = shutil.which("echo")
        self.fails(mpitx.Error, None, "printed no JSON", mpitx.open, RUNS[0])
        del os.environ["MPITX"]
        os.environ["PATH"] = "/nowhere"
        self.fails(mpitx.NotFound, None, "mpitx is not in PATH", mpitx.open, RUNS[0])

    def test_runs(self):
        self.fails(mpitx.Error, 1, "there is no such directory", mpitx.open, "no-such-run")
        self.fails(mpitx.Error, 1, "not a run directory", mpitx.open, "/usr")
        self.fails(mpitx.Error, 1, "not a run directory", mpitx.open, os.path.dirname(RUNS[0]))
        self.fails(mpitx.Error, 1, "there is no such directory", mpitx.open, "-h")
        self.assertTrue(mpitx.open(RUNS[0] + "/").info["ranks"])
        os.chdir(RUNS[0])
        self.assertTrue(mpitx.open(".").info["ranks"])
        run = mpitx.open(pathlib.Path(RUNS[0]))
        self.fails(mpitx.Error, 1, "the run has no triggers; record some with mpitx run --when", run.report, "triggers")
        self.fails(mpitx.Error, 2, "there is no view no-such-view", run.report, "no-such-view")
        self.fails(mpitx.Error, 1, "has no such rank", run.samples, rank=1000)
        self.fails(mpitx.Error, 2, "there is no flag --nonsense", run.report, "matrix", nonsense=True)
        self.fails(mpitx.Error, 2, '"True" is not a rank list', run.samples, rank=True)
        self.fails(mpitx.Error, 2, "--from", run.samples, from_=[1])
        self.fails(mpitx.Error, None, "cannot be started with these arguments", run.samples, 3)

    # mpitx export would write the trace.
    def test_no_samples(self):
        traced = [r for r in map(mpitx.open, RUNS) if "trace" in r.info["recorded"] and "samples" not in r.info["recorded"]]
        self.assertTrue(traced)
        for run in traced:
            for names, options in (((), {}), (("mpitx:*",), {}), ((), {"as_": "rate"})):
                self.fails(mpitx.Error, 1, "the run has no samples", run.samples, *names, **options)

    @unittest.skipUnless(DAMAGED, "needs a damaged run")
    def test_damaged(self):
        run = mpitx.open(DAMAGED)
        self.fails(mpitx.Incomplete, 3, "damaged at byte", run.trace)
        partial = mpitx.open(DAMAGED, partial=True)
        for table in (lambda: partial.calls(), lambda: partial.document("waits"), lambda: partial.trace()):
            with self.assertWarnsRegex(mpitx.Warning, "damaged at byte") as caught:
                rows = table()
            self.assertEqual((caught.filename, caught.lineno), (__file__, table.__code__.co_firstlineno))  # the caller's line
        self.assertTrue(0 < len(rows) < len(mpitx.open(RUNS[0]).trace()))

    def test_pandas(self):
        if _command.pandas:
            self.assertEqual(type(mpitx.open(RUNS[0]).report("samples")).__name__, "DataFrame")
        else:
            self.assertIsInstance(mpitx.open(RUNS[0]).report("samples"), list)
            self.fails(mpitx.Error, None, "pandas cannot be imported", mpitx.open, RUNS[0], pandas=True)


class Catalogs(unittest.TestCase):
    def test_catalog(self):
        catalog = mpitx.catalog("demo", ranks=2)
        document = json.loads(answer("list", "--mpi", "demo", "-n", "2", "-o", "json")[1])
        for kind in ("cvars", "pvars", "categories", "enums"):
            self.assertEqual([r["name"] for r in dicts(getattr(catalog, kind)())], [r["name"] for r in document[kind]])
            self.assertTrue(document[kind])
        self.assertEqual(catalog.document["library"], document["library"])
        self.assertEqual(catalog.document["job"]["size"], 2)
        values = {r["name"]: r["value"] for r in dicts(catalog.cvars())}
        self.assertEqual((values["demo_eager_limit"], values["demo_eager_thresholds"]), (4096, [512, 4096, 16384]))
        self.assertIn("mpitx:calls", [r["name"] for r in dicts(catalog.virtual())])
        self.assertTrue(len(catalog.events()))
        limits = dicts(catalog.cvars("demo_eager*", scope="all-eq", fields="name,scope"))
        self.assertEqual([r["scope"] for r in limits], ["all-eq"] * len(limits))
        self.assertIn("demo_eager_limit", [r["name"] for r in limits])
        again = mpitx.catalog(snapshot=catalog._path, pandas=False)
        self.assertEqual(again.document, catalog.document)
        self.assertIsInstance(again.cvars(), list)

    def test_launcher(self):
        catalog = mpitx.catalog("demo", launcher=["env", "FAKEMPI_HOST=elsewhere"])
        self.assertEqual(catalog.document["job"]["ranks"][0]["host"], "elsewhere")

    # A library without enumerations is not warned of before they are asked for.
    def test_quiet(self):
        whole = mpitx.catalog("demo").document
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file, warnings.catch_warnings():
            warnings.simplefilter("error")
            json.dump({**whole, "enums": []}, file)
            file.flush()
            catalog = mpitx.catalog(snapshot=file.name)
            self.assertRaisesRegex(mpitx.Warning, "no enumerations", catalog.enums)

    def test_errors(self):
        for arguments, words in (({"mpi": "/no/such/mpi"}, "/no/such/mpi"), ({"launcher": ["nosuchlauncher"]}, "nosuchlauncher cannot be started"), ({"snapshot": "no.json"}, "there is no such file"),
                                 ({"mpi": "demo", "snapshot": "x"}, "leave mpi, ranks and launcher out"), ({"snapshot": __file__}, "test_mpitx.py")):
            with self.assertRaisesRegex(mpitx.Error, words):
                mpitx.catalog(**arguments)
        with self.assertRaisesRegex(mpitx.Error, "demo_nothing: no control variable has this name"):
            mpitx.catalog("demo").cvars("demo_nothing")


class Package(unittest.TestCase):
    # The package keeps to Python 3.9.
    def test_syntax(self):
        for path in pathlib.Path(mpitx.__file__).parent.glob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))

    def test_documented(self):
        for name in mpitx.__all__:
            if name != "Table":
                self.assertTrue(getattr(mpitx, name).__doc__, name)
        for kind in (mpitx.Run, mpitx.Catalog):
            for name, member in vars(kind).items():
                if not name.startswith("_"):
                    self.assertTrue(member.__doc__, name)

    def test_flags(self):
        words = _command.flags(rank=range(2), from_=0.5, to="2s", as_="rate", by_rank=True, comm=["a", "b"], wide=False, phase=None, n=3)
        self.assertEqual(words, "--rank 0,1 --from 0.500000000s --to 2s --as rate --by-rank=true --comm a --comm b --n 3".split())
        self.assertEqual(_command.flags(rank=3) + _command.flags(rank="0-2"), ["--rank", "3", "--rank", "0-2"])
        self.assertEqual(_command.flags(rank=True) + _command.flags(from_=True), ["--rank", "True", "--from=true"])  # both are wrong

    @unittest.skipUnless(_command.pandas, "pandas has numpy")
    def test_numpy(self):
        import numpy

        for rank, text in ((numpy.int64(1), "1"), (numpy.array(1), "1"), (numpy.array([0, 2]), "0,2"), ([numpy.uint8(3)], "3")):
            self.assertEqual(_command.flags(rank=rank), ["--rank", text])
        self.assertEqual(_command.flags(from_=numpy.float64(0.5), comm=numpy.array(["a", "b"])), "--from 0.500000000s --comm a --comm b".split())

    def test_numbers(self):
        for cell, value in {"": None, "7": 7, "18446744073709551615": 2**64 - 1, "0.5": 0.5, "true": True, "0x1": "0x1", "a": "a"}.items():
            self.assertEqual(_command._number(cell), value)
        self.assertTrue(math.isnan(_command._number("NaN")))


if __name__ == "__main__":
    print("with" if _command.pandas else "without", "pandas, Python", sys.version.split()[0])
    unittest.main()

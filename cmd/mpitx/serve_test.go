//go:build cgo && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/fixtures/need"
	"mpitx/ui/link"
)

// served is a back end under test.
type served struct {
	*link.Client
	t       *testing.T
	p       *process // finds processes that are left
	argv    []string
	catalog *catalog.Catalog
}

const servedLimit = 90 * time.Second

// backendServe starts a back end, with more variables in its environment, and waits for the catalog.
func backendServe(t *testing.T, environ []string, argv ...string) *served {
	t.Helper()
	if !filepath.IsAbs(argv[0]) {
		argv[0] = lookPath(strings.TrimPrefix(environ[0], "PATH="), argv[0])
	}
	return serveWithout(t, environ, nil, argv...)
}

// serveWithout also excludes variables.
func serveWithout(t *testing.T, environ, exclude []string, argv ...string) *served {
	t.Helper()
	p := newProcess(environ, "", argv...)
	c, err := link.Start(context.Background(), link.Options{Command: argv, Env: p.cmd.Env, Exclude: exclude})
	if err != nil {
		t.Fatal(err)
	}
	s := &served{Client: c, t: t, p: p, argv: argv}
	t.Cleanup(s.leftBehind)
	ctx, cancel := context.WithTimeout(context.Background(), servedLimit)
	defer cancel()
	if s.catalog, err = c.Catalog(ctx, nil); err != nil {
		t.Fatalf("catalog: %v\n%s", err, s.end())
	}
	return s
}

// leftBehind ends the back end and returns the processes that it has left.
func (s *served) leftBehind() {
	if err := s.Close(); err != nil {
		s.t.Error(err)
	}
	s.gone()
}

func (s *served) gone() {
	s.t.Helper()
	for deadline := time.Now().Add(hung); len(s.p.alive()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Errorf("left behind:\n%s", s.p.describe())
			s.p.kill()
			return
		}
	}
}

// end closes the back end and returns what it said.
func (s *served) end() string {
	s.Close()
	var b strings.Builder
	for e := range s.Events() {
		fmt.Fprintf(&b, "%+v\n", e)
	}
	return b.String()
}

// event waits for an event of a kind.
func (s *served) event(kind link.EventKind) link.Event {
	s.t.Helper()
	late := time.After(servedLimit)
	for {
		select {
		case e, ok := <-s.Events():
			if !ok {
				s.t.Fatalf("no event of kind %d came before the end", kind)
			}
			if e.Kind == kind {
				return e
			}
			s.t.Logf("%+v", e)
		case <-late:
			s.t.Fatalf("no event of kind %d", kind)
		}
	}
}

func (s *served) read(limit time.Duration, ids ...string) *link.Sample {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	sample, err := s.Read(ctx, ids)
	if err != nil {
		s.t.Fatalf("read: %v\n%s", err, s.end())
	}
	return sample
}

func (s *served) write(w catalog.WriteRequest) catalog.Outcomes {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), servedLimit)
	defer cancel()
	out, err := s.Write(ctx, w)
	if err != nil {
		s.t.Fatalf("write: %v\n%s", err, s.end())
	}
	return out
}

func ranksOf(s *link.Sample) (ranks []int) {
	for _, r := range s.Ranks {
		ranks = append(ranks, r.Rank)
	}
	return ranks
}

// All requests of a screen, on the demo MPI, in one process and in four.
func TestServe(t *testing.T) {
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			args := []string{"mpitx", "backend", "serve"}
			if n > 1 {
				args = append(args, "-n", fmt.Sprint(n))
			}
			s := backendServe(t, testEnvironment(t), args...)
			if s.catalog.Job.Size != n || len(s.catalog.Cvars) < 70 || !s.catalog.Before.Read || !s.catalog.After.Read {
				t.Fatalf("%+v: %d control variables", s.catalog.Job, len(s.catalog.Cvars))
			}
			var ids []string
			for v := range s.catalog.Variables() {
				ids = append(ids, v.ID())
			}
			sample := s.read(servedLimit, ids...)
			if len(sample.Ranks) != n || len(sample.Silent) > 0 {
				t.Fatalf("ranks %v answered, %v did not", ranksOf(sample), sample.Silent)
			}
			for k, id := range ids {
				v := s.catalog.Lookup(strings.TrimSuffix(id, ":"))
				got := sample.Ranks[0].Readings[k]
				if len(v) == 1 && v[0].Kind == catalog.Cvars && v[0].After != nil && (got.Status != v[0].After.Status || got.Value != v[0].After.Value || got.Count != v[0].After.Count) {
					t.Errorf("%s: the catalog says %+v, read again %+v", id, *v[0].After, got)
				}
				if len(v) == 1 && v[0].After == nil && got.Status != catalog.StatusMissing {
					t.Errorf("%s does not exist any more, and reads %+v", id, got)
				}
			}

			out := s.write(catalog.WriteRequest{Name: "demo_eager_limit", Text: "8192"})
			if len(out) != n {
				t.Fatalf("%d outcomes", len(out))
			}
			for k, o := range out {
				if o.Rank != k || o.Result != "ok" || o.Back.String() != "8192" || o.Old.String() == "8192" || o.Host != "testhost" {
					t.Errorf("%+v", o)
				}
			}
			if out = s.write(catalog.WriteRequest{Name: "demo_eager_limit", Text: "4096"}); out[0].Old.String() != "8192" {
				t.Errorf("the old value is not the present one: %+v", out[0])
			}
			for _, r := range s.read(servedLimit, "demo_eager_limit").Ranks {
				if r.Readings[0].Value.String() != "4096" {
					t.Errorf("rank %d reads %+v", r.Rank, r.Readings[0])
				}
			}
			if out = s.write(catalog.WriteRequest{Name: "demo_eager_limit", Text: "many"}); out[0].Result != "invalid" || out[0].Detail == "" {
				t.Errorf("%+v", out[0])
			}
			if out = s.write(catalog.WriteRequest{Name: "demo_eager_buffers", Text: "1"}); out[0].Result != "not now" {
				t.Errorf("%+v", out[0])
			}
			if _, err := s.Write(context.Background(), catalog.WriteRequest{Name: "demo_eager_limit", Text: "1", Ranks: []int{n}}); err == nil {
				t.Error("a rank that is not there was written to")
			}
			if e := s.end(); !strings.Contains(e, "ended as asked") || changes(e) != 0 {
				t.Errorf("%s", e)
			}
			if _, err := s.Read(context.Background(), ids[:1]); !errors.Is(err, link.ErrEnded) {
				t.Errorf("read behind the end: %v", err)
			}
		})
	}
}

// A workload changes variables while reads continue, and stops.
func TestServeWorkloads(t *testing.T) {
	t.Parallel()
	environ := slices.DeleteFunc(testEnvironment(t), func(kv string) bool { return strings.HasPrefix(kv, "FAKEMPI_CLOCK=") })
	s := backendServe(t, environ, "mpitx", "backend", "serve", "-n", "3")
	const id = "demo_messages_sent:counter"
	if len(s.catalog.Lookup(id)) != 1 {
		t.Fatalf("no %s", id)
	}
	count := func() (sum uint64) {
		sample := s.read(servedLimit, id)
		if len(sample.Ranks) != 3 {
			t.Fatalf("only %v answered", ranksOf(sample))
		}
		for _, r := range sample.Ranks {
			sum += r.Readings[0].Value.Uint(0)
		}
		return sum
	}
	for _, name := range []string{"pingpong", "alltoall", "unexpected", "halo", "idle", "pingpong", ""} {
		if err := s.Workload(context.Background(), name); err != nil {
			t.Fatal(err)
		}
		before := count()
		for deadline := time.Now().Add(servedLimit); name != "" && count() == before; {
			if time.Now().After(deadline) {
				t.Fatalf("%s moves nothing", name)
			}
		}
	}
	// It has stopped before the answer.
	if a, b := count(), count(); a != b {
		t.Errorf("the workload goes on: %d, %d", a, b)
	}
	if err := s.Workload(context.Background(), "rest"); err == nil {
		t.Error("an unknown workload started")
	}
}

func (s *served) refresh() *catalog.Catalog {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), servedLimit)
	defer cancel()
	c, err := s.Refresh(ctx)
	if err != nil {
		s.t.Fatalf("refresh: %v\n%s", err, s.end())
	}
	return c
}

// idsOf are the variables of a catalog that exist after MPI_Init.
func idsOf(c *catalog.Catalog) (ids []string) {
	for v := range c.Variables() {
		if v.After != nil && v.After.Status != catalog.StatusMissing {
			ids = append(ids, v.ID())
		}
	}
	return ids
}

// A library adds variables while it runs. The screen is notified once, and all ranks have them after a refresh. Known variables keep
// their numbers.
func TestServeGrows(t *testing.T) {
	t.Parallel()
	s := backendServe(t, append(testEnvironment(t), "FAKEMPI_FAULTS=grow;changing-stamp"), "mpitx", "backend", "serve", "-n", "3")
	old := idsOf(s.catalog)
	for range 3 {
		s.read(servedLimit, "demo_rank")
	}
	if e := s.event(link.EventChanged); e.Rank < 0 {
		t.Errorf("%+v", e)
	}
	c := s.refresh()
	added := 0
	for _, id := range idsOf(c) {
		if slices.Contains(old, id) {
			continue
		}
		added++
		for _, r := range s.read(servedLimit, id, "demo_rank").Ranks {
			if r.Readings[1].Status != catalog.StatusOK || r.Readings[1].Value.String() != fmt.Sprint(r.Rank) {
				t.Errorf("demo_rank of rank %d reads %+v", r.Rank, r.Readings[1])
			}
			if v := c.Lookup(id); r.Rank == 0 && r.Readings[0] != (catalog.Reading{Status: catalog.StatusOK, Value: v[0].After.Value, Count: 1}) {
				t.Errorf("%s reads %+v, in the catalog %+v", id, r.Readings[0], v[0].After)
			}
		}
	}
	if added == 0 || c.Job.Size != 3 || !c.Before.Read || len(c.Job.Ranks) != 3 {
		t.Errorf("%d variables were added; %+v", added, c.Job)
	}
	if n := changes(s.end()); n != 1 {
		t.Errorf("after the refresh %d events reported more variables", n)
	}
}

// changes counts the events in a back end's last output that report a changed library.
func changes(events string) int {
	return strings.Count(events, fmt.Sprintf("{Kind:%d ", link.EventChanged))
}

// A rank that hangs does not delay a refresh. It has no readings afterwards.
func TestServeRefreshSilent(t *testing.T) {
	t.Parallel()
	s := backendServe(t, append(testEnvironment(t), "FAKEMPI_FAULTS=hang-read=demo_eager_limit@2/itself"), "mpitx", "backend", "serve", "-n", "3")
	s.read(3*time.Second, "demo_eager_limit")
	c := s.refresh()
	if len(c.Job.Ranks) != 3 || c.Job.Ranks[2].Error == "" || c.Job.Ranks[1].Error != "" || len(idsOf(c)) != len(idsOf(s.catalog)) {
		t.Errorf("%+v", c.Job)
	}
}

func serveCommands() map[string][]string {
	out := map[string][]string{"demo": {"mpitx", "backend", "serve", "-n", "4"}}
	for family, l := range launchers {
		out[family] = append(slices.Clone(l), "mpitx", "backend", "serve")
	}
	return out
}

func serveOn(t *testing.T, family string, argv []string) *served {
	t.Helper()
	environ := testEnvironment(t)
	if family != "demo" {
		if ok, err := have(family); err != nil {
			t.Fatal(err)
		} else if !ok {
			need.Missing(t, "%s is not installed", family)
		}
		environ = append(environ, "MPITX_MPI=")
		path, err := exec.LookPath(argv[0])
		if err != nil {
			t.Fatal(err)
		}
		argv = append([]string{path}, argv[1:]...)
	}
	return backendServe(t, environ, argv...)
}

// The same on the real libraries, under their launchers.
func TestServeReal(t *testing.T) {
	variable := map[string]string{"openmpi": "mpi_show_handle_leaks", "mpich": "MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE"}
	for family, argv := range serveCommands() {
		if family == "demo" {
			continue
		}
		t.Run(family, func(t *testing.T) {
			s := serveOn(t, family, argv)
			if s.catalog.Job.Size != 4 || s.catalog.Library.Family != family {
				t.Fatalf("%+v %+v", s.catalog.Library, s.catalog.Job)
			}
			var ids []string
			for v := range s.catalog.Variables() {
				ids = append(ids, v.ID())
			}
			start := time.Now()
			sample := s.read(servedLimit, ids...)
			t.Logf("%d variables of %d ranks in %s", len(ids), len(sample.Ranks), time.Since(start))
			if len(sample.Ranks) != 4 {
				t.Fatalf("%v did not answer", sample.Silent)
			}
			before := idsOf(s.catalog)
			start = time.Now()
			again := idsOf(s.refresh())
			t.Logf("refreshed in %s", time.Since(start))
			if !slices.Equal(before, again) {
				t.Errorf("%d variables, and %d after a refresh of a library that did nothing", len(before), len(again))
			}
			out := s.write(catalog.WriteRequest{Name: variable[family], Text: "1"})
			t.Logf("%+v", out[0])
			if len(out) != 4 || out[0].Result == "error" || out[0].Result == catalog.WriteNoAnswer {
				t.Errorf("%+v", out)
			}
			for _, name := range append(link.Workloads, "") {
				if err := s.Workload(context.Background(), name); err != nil {
					t.Fatal(err)
				}
				if sample = s.read(servedLimit, ids[:50]...); len(sample.Ranks) != 4 {
					t.Errorf("%s: %v did not answer", name, sample.Silent)
				}
			}
			text := s.end()
			if strings.Contains(text, "not matched") {
				t.Errorf("a message was left: %s", text)
			}
			if changes(text) != 0 {
				t.Errorf("a library that loaded nothing is said to have changed: %s", text)
			}
			if !strings.Contains(text, "ended as asked") {
				t.Error(text)
			}
		})
	}
}

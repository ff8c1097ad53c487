package explorer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/link"
	"mpitx/ui/screen"
	"mpitx/ui/term"
)

// fakeBackend is an MPI of four ranks with a few variables, of which one rank may hang.
type fakeBackend struct {
	mu      sync.Mutex
	events  chan link.Event
	values  [4]int64
	counter int64
	silent  bool  // rank 2 does not answer
	refuse  error // of every write
	gone    bool
	writes  []catalog.WriteRequest
	work    string
	exclude []string
	environ []string
	closed  bool
}

func integer(t catalog.Datatype, n int64) catalog.Value {
	raw := make([]byte, t.Size())
	for i := range raw {
		raw[i] = byte(n >> (8 * i))
	}
	return catalog.NewValue(t, raw)
}

func ok(t catalog.Datatype, n int64) *catalog.Reading {
	return &catalog.Reading{Status: catalog.StatusOK, Value: integer(t, n), Count: 1, Writable: catalog.WritableYes}
}

func (f *fakeBackend) Catalog(_ context.Context, progress func(string)) (*catalog.Catalog, error) {
	progress("reading variables")
	if f.gone {
		return nil, link.ErrEnded
	}
	c := &catalog.Catalog{Library: catalog.Library{Family: "demo"}, Job: catalog.Job{Size: 4}}
	for r := range 4 {
		c.Job.Ranks = append(c.Job.Ranks, catalog.Rank{Rank: r})
	}
	c.Cvars = []catalog.Variable{
		{Kind: catalog.Cvars, Name: "algorithm", Scope: catalog.ScopeAllEq, Type: catalog.TypeInt, Enum: "algorithms", After: ok(catalog.TypeInt, 1)},
		{Kind: catalog.Cvars, Name: "early", Scope: catalog.ScopeLocal, Type: catalog.TypeInt, Before: ok(catalog.TypeInt, 1)},
		{Kind: catalog.Cvars, Name: "limit", Scope: catalog.ScopeAll, Type: catalog.TypeInt, After: ok(catalog.TypeInt, 7)},
	}
	c.Pvars = []catalog.Variable{{Kind: catalog.Pvars, Name: "messages", Class: catalog.ClassCounter, Type: catalog.TypeUint64, After: ok(catalog.TypeUint64, 0)}}
	c.Enums = []catalog.Enum{{Name: "algorithms", Items: []catalog.Item{{Value: 1, Name: "linear"}, {Value: 2, Name: "binomial"}}}}
	f.values = [4]int64{7, 7, 7, 7}
	return c, nil
}

func (f *fakeBackend) Read(_ context.Context, ids []string) (*link.Sample, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return nil, link.ErrEnded
	}
	f.counter += 10
	s := &link.Sample{Time: time.Unix(1000+f.counter, 0)}
	for r := range 4 {
		if r == 2 && f.silent {
			s.Silent = []int{2}
			continue
		}
		x := link.RankSample{Rank: r}
		for _, id := range ids {
			switch id {
			case "messages:counter":
				x.Readings = append(x.Readings, *ok(catalog.TypeUint64, f.counter*int64(r+1)))
			case "limit":
				x.Readings = append(x.Readings, *ok(catalog.TypeInt, f.values[r]))
			default:
				x.Readings = append(x.Readings, *ok(catalog.TypeInt, 1))
			}
		}
		s.Ranks = append(s.Ranks, x)
	}
	return s, nil
}

func (f *fakeBackend) Write(_ context.Context, w catalog.WriteRequest) (catalog.Outcomes, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, w)
	if f.refuse != nil {
		return nil, f.refuse
	}
	var n int64
	if _, err := fmt.Sscan(w.Text, &n); err != nil {
		n = 2
	}
	var out catalog.Outcomes
	for r := range 4 {
		if r == 2 && f.silent {
			out = append(out, catalog.Outcome{Rank: r, Result: catalog.WriteNoAnswer})
			continue
		}
		o := catalog.Outcome{Rank: r, Old: integer(catalog.TypeInt, f.values[r]), New: integer(catalog.TypeInt, n), Result: "ok"}
		if r == 3 && w.Name == "limit" && n == 9 {
			o.Result, o.Back = "not now", o.Old
		} else {
			f.values[r] = n
			o.Back = o.New
		}
		out = append(out, o)
	}
	return out, nil
}

func (f *fakeBackend) Workload(_ context.Context, name string) error { f.work = name; return nil }
func (f *fakeBackend) Events() <-chan link.Event                     { return f.events }
func (f *fakeBackend) Close() error                                  { f.closed = true; return nil }

// fakeSession is an explorer on a fake back end, ready.
func fakeSession(t *testing.T, o Options) (*Model, *[]*fakeBackend) {
	t.Helper()
	backends := &[]*fakeBackend{}
	o.Start = func(_ context.Context, exclude, environ []string) (link.Backend, error) {
		b := &fakeBackend{events: make(chan link.Event, 16), exclude: exclude, environ: environ}
		*backends = append(*backends, b)
		return b, nil
	}
	m := New(o)
	m.o.Source = "4 ranks"
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	begin(m, m.start(nil))
	return m, backends
}

// begin starts a back end and waits for its catalog.
func begin(m *Model, start tea.Cmd) {
	m.Update(start())
	for m.x == nil && m.failed == "" {
		m.Update(<-m.live.msgs)
	}
}

// event lets the back end say something, and waits until the model has heard it.
func event(m *Model, b *fakeBackend, e link.Event) {
	b.events <- e
	m.Update(<-m.live.msgs)
}

func TestEdit(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'x")
	contains(t, m, "is not a value of type int", "all ranks must be written together")
	press(m, "enter")
	if len(b.writes) > 0 || m.mode != modeEdit {
		t.Fatal("an invalid value was sent")
	}
	press(m, "backspace", "'9", "enter")
	contains(t, m, "Write this on all 4 ranks?")
	if len(b.writes) > 0 {
		t.Fatal("sent before it was confirmed")
	}
	press(m, "y")
	contains(t, m, "ranks 0-2: ok: was 7, reads back 9", "rank 3: not now: was 7, reads back 7")
	press(m, "esc")
	if e := m.current(); !e.updated || len(e.v.Ranks) != 1 || e.v.Ranks[0].Rank != 3 {
		t.Fatalf("after the write: %+v", e.v)
	}
	press(m, "u")
	last := b.writes[len(b.writes)-1]
	if last.Text != "7" || fmt.Sprint(last.Ranks) != "[0 1 2]" || !last.Force {
		t.Fatalf("undo wrote %+v", last)
	}
	press(m, "esc", "u")
	contains(t, m, "nothing to undo")

	// On some ranks only, with what the scope says of it.
	press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'5", "enter", "r", "'2-9")
	contains(t, m, "no rank 9: ranks are 0 to 3")
	press(m, "enter", "backspace", "'3", "enter")
	contains(t, m, "If only some ranks have another value", "Write this on ranks 2-3 only?")
	press(m, "y")
	if w := b.writes[len(b.writes)-1]; w.Text != "5" || fmt.Sprint(w.Ranks) != "[2 3]" || !w.Force {
		t.Fatalf("wrote %+v", w)
	}
	press(m, "esc")
	b.writes = b.writes[:2]

	press(m, ":", "'show algorithm", "enter", "e")
	contains(t, m, "> 1  linear", "2  binomial")
	press(m, "j", "enter", "n")
	if len(b.writes) != 2 {
		t.Fatal("a refused confirmation was sent")
	}
	press(m, "e", "j", "enter", "y")
	if w := b.writes[2]; w.Name != "algorithm" || w.Text != "binomial" || w.Ranks != nil {
		t.Fatalf("%+v", w)
	}
	press(m, "esc", ":", "'write limit=twelve", "enter")
	contains(t, m, "is not a value of type int")
	press(m, "esc", ":", "'show early", "enter", "e")
	contains(t, m, "exists only before MPI_Init")
	press(m, ":", "'show messages", "enter", "e")
	contains(t, m, "performance variable")
}

// An undo that failed, on all ranks or on some, can be done again.
func TestUndoAgain(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'5", "enter", "y", "esc")
	b.refuse = context.DeadlineExceeded
	press(m, "u")
	contains(t, m, "failed: context deadline exceeded", "u then undoes it")
	b.refuse, b.silent = nil, true
	press(m, "esc", "u")
	contains(t, m, "ranks 0-1,3: ok: was 5, reads back 7", "rank 2: no answer", "u then undoes it")
	b.silent = false
	press(m, "esc", "u")
	if w := b.writes[len(b.writes)-1]; w.Text != "7" || fmt.Sprint(w.Ranks) != "[2]" {
		t.Fatalf("undid %+v", w)
	}
	press(m, "esc", "u")
	contains(t, m, "nothing to undo")
}

// Undo after a write that was refused, or that changed nothing, does not take back an earlier one.
func TestUndoAfterRefusal(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	write := func(value string) {
		press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'"+value, "enter", "y")
	}
	write("5")
	contains(t, m, "u then undoes it")
	press(m, "esc")
	b.refuse = context.DeadlineExceeded
	for range 2 {
		write("6")
		lacks(t, m, "u then undoes it")
		press(m, "esc")
	}
	b.refuse = nil
	n := len(b.writes)
	press(m, "u")
	contains(t, m, "changed nothing: nothing to undo; u again undoes the one before it")
	write("5")
	press(m, "esc", "u")
	contains(t, m, "changed nothing: nothing to undo")
	if len(b.writes) != n+1 || b.values != [4]int64{5, 5, 5, 5} {
		t.Errorf("undo wrote: %v %+v", b.values, b.writes[n:])
	}
	press(m, "u")
	if b.values != [4]int64{7, 7, 7, 7} {
		t.Errorf("undo of the write before: %v", b.values)
	}
}

// A rank that did not answer may have written: what it had can be written back.
func TestUndoOfSilentRank(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	b.silent = true
	press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'5", "enter", "y", "esc")
	b.silent = false
	press(m, "u")
	if w := b.writes[len(b.writes)-1]; w.Text != "7" || w.Ranks != nil {
		t.Fatalf("undid %+v", w)
	}
}

// A group's description, which names it, is shown before a write; flags are any of their items.
func TestEditGroupAndFlags(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	v := m.x.entries[m.x.byID["limit"]].v
	v.Scope, v.Description, v.Enum = catalog.ScopeGroup, "Must agree among the ranks of a node.", "flags"
	v.After = ok(catalog.TypeInt, 5)
	m.x.cat.Enums = append(m.x.cat.Enums, catalog.Enum{Name: "flags", Flags: true,
		Items: []catalog.Item{{Value: 1, Name: "send"}, {Value: 2, Name: "put"}, {Value: 4, Name: "get"}}})
	press(m, ":", "'show limit", "enter")
	contains(t, m, "any of these, joined by |", "> 1 send", "  2 put", "> 4 get")
	press(m, "e")
	contains(t, m, "Must agree among the ranks of a node.", "now  send|get")
	press(m, "ctrl+u", "'put|get", "enter")
	contains(t, m, "new  put|get", "Write this on all 4 ranks?")
}

// A warning is said once, and stands in the help.
func TestWarning(t *testing.T) {
	m, _ := fakeSession(t, Options{Warning: "LD_LIBRARY_PATH makes programs load /other/libmpi.so.40, but mpitx reads /usr/lib/libmpi.so.40: use --mpi /other/libmpi.so.40"})
	contains(t, m, "warning: LD_LIBRARY_PATH makes programs load /other/libmpi.so.40")
	press(m, "?")
	contains(t, m, "Warning", "LD_LIBRARY_PATH makes programs load", ": use --mpi", "/other/libmpi.so.40")
	press(m, "esc", "R")
	if strings.Contains(onScreen(t, m), "LD_LIBRARY_PATH") {
		t.Errorf("said again:\n%s", onScreen(t, m))
	}
	if m, _ := fakeSession(t, Options{}); strings.Contains(strings.Join(m.helpLines(), "\n"), "Warning") {
		t.Error("a warning of nothing")
	}
}

// Items that the library has in no enumeration are chosen as others are.
func TestEditByItems(t *testing.T) {
	items := &catalog.Enum{Items: []catalog.Item{{Value: 3, Name: "ring"}, {Value: 7, Name: "tree"}}}
	m, backends := fakeSession(t, Options{Items: func(c *catalog.Catalog, v *catalog.Variable) *catalog.Enum {
		if v.Name == "limit" {
			return items
		}
		return c.Enum(v.Enum)
	}})
	press(m, ":", "'show limit", "enter", "e")
	contains(t, m, "3  ring", "> 7  tree", "Enter selects")
	press(m, "k", "enter", "y")
	if w := (*backends)[0].writes; len(w) != 1 || w[0].Text != "ring" {
		t.Fatalf("%+v", w)
	}
	press(m, "esc", "e", "=", "ctrl+u", "'rign", "enter")
	contains(t, m, "did you mean ring?")
	press(m, "esc", ":", "'write algorithm=binomial", "enter", "y")
	if w := (*backends)[0].writes; len(w) != 2 || w[1].Text != "binomial" {
		t.Fatalf("%+v", w)
	}
}

func TestReadOnly(t *testing.T) {
	m, backends := fakeSession(t, Options{ReadOnly: true})
	press(m, ":", "'show limit", "enter", "e")
	contains(t, m, "--read-only")
	press(m, ":", "'write limit=9", "enter", "y", "enter", "y")
	if len((*backends)[0].writes) > 0 || m.mode != modeNormal {
		t.Fatal("written")
	}
}

func TestReadAndSilentRank(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	b.values[1], b.silent = 8, true
	press(m, ":", "'read limit", "enter")
	contains(t, m, "no answer from rank 2", "SILENT: r2")
	press(m, ":", "'show limit", "enter")
	contains(t, m, "does not answer", "r1")
	if e := m.current(); len(e.v.Ranks) != 1 || e.v.Ranks[0].Rank != 1 {
		t.Fatalf("%+v", e.v.Ranks)
	}
	b.silent = false
	press(m, ":", "'read limit", "enter")
	contains(t, m, "read 1 variable on 4 ranks", "SILENT: r2")
	event(m, b, link.Event{Kind: link.EventAnswers, Rank: 2})
	if strings.Contains(onScreen(t, m), "SILENT") {
		t.Error("still silent")
	}
	event(m, b, link.Event{Kind: link.EventLog, Rank: -1, Text: "noise\x1b[2J of the library"})
	press(m, "L")
	contains(t, m, `noise\x1b[2J of the library`)
}

// Without pins the view says how to pin something.
func TestWatchNothing(t *testing.T) {
	m, _ := fakeSession(t, Options{})
	for _, size := range [][2]int{{40, 12}, {80, 24}, {140, 40}} {
		resize(m, size[0], size[1])
		press(m, "w")
		flat(t, m, "watching", "Nothing is pinned.", "p pins the variable under the cursor")
		if size[0] > 40 {
			flat(t, m, ":watch messages:counter")
		}
		press(m, "j", "v", "s", "p", "l", "+", "esc")
		lacks(t, m, "watching", "Nothing is pinned")
	}
	press(m, "w", ":", "'watch messages", "enter")
	contains(t, m, "> messages:counter")
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		typ  catalog.Datatype
		raw  string
		want string
	}{
		{catalog.TypeChar, "", "NaN"}, {catalog.TypeChar, "7", "NaN"},
		{catalog.TypeInt, "\x02\x00\x00\x00\xff\xff\xff\xff", "1"}, {catalog.TypeUnsignedLong, "\x05\x00\x00\x00\x00\x00\x00\x00", "5"},
		{catalog.TypeDouble, "\x00\x00\x00\x00\x00\x00\xf8\x3f", "1.5"},
	} {
		r := catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(c.typ, []byte(c.raw)), Count: 1}
		if got := fmt.Sprint(number(&r)); got != c.want {
			t.Errorf("%v %q: %s, want %s", c.typ, c.raw, got, c.want)
		}
	}
}

func TestWatch(t *testing.T) {
	m, backends := fakeSession(t, Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}})
	if m.tick() != nil {
		t.Fatal("ticks with nothing to watch")
	}
	press(m, ":", "'show messages", "enter")
	m.key("p", "p")
	for range 4 { // what the ticks would do, without waiting for them
		m.Update(screen.TickMsg(m.Tick))
		m.asked = false
		m.Update(m.read([]string{"messages:counter"}, true)())
	}
	s := m.series("messages:counter")
	if got := fmt.Sprint(s.total(showRaw), s.total(showDelta), s.rank(1, showRate)); got != "[100 200 300 400] [100 100 100] [2 2 2]" {
		t.Fatal(got)
	}
	m.key("w", "w")
	contains(t, m, "messages:counter", "every 500ms: counters, aggregates and timers as rate/s", "rate/s, sum of 4 ranks", " 10/s ")
	press(m, "v")
	contains(t, m, "value, sum of 4 ranks", " 400 ")
	press(m, "v", "s")
	contains(t, m, "every 500ms: delta", "delta on each rank", "  3   40│")
	m.Update(sampleMsg{err: fmt.Errorf("await: %w", context.DeadlineExceeded), watch: true, serial: m.serial})
	contains(t, m, "no answer within 2s: the ranks are busy")
	m.Update(m.read([]string{"messages:counter"}, true)())
	if strings.Contains(onScreen(t, m), "no answer within") {
		t.Error("still complains though it was answered")
	}
	m.key("space", " ")
	if m.ticking = false; m.tick() != nil {
		t.Error("ticks while paused")
	}
	contains(t, m, "PAUSED")
	path := filepath.Join(t.TempDir(), "s.csv")
	press(m, ":", "ctrl+u", "'export "+path, "enter")
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != 21 {
		t.Errorf("%v\n%s", err, data)
	}
	press(m, "W", "2")
	if (*backends)[0].work != "alltoall" {
		t.Error("no workload")
	}
	if m.mode != modeWatch {
		t.Error("not back to watching")
	}
	press(m, "P")
	if len(m.watching.list) != 0 || m.mode != modeNormal {
		t.Error("still pinned")
	}
}

// What is read more than once has a history in the details, pinned or not.
func TestHistory(t *testing.T) {
	m, backends := fakeSession(t, Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}})
	press(m, ":", "'show limit", "enter", ":", "'read limit", "enter")
	if strings.Contains(onScreen(t, m), "history") {
		t.Error("a history of one sample")
	}
	(*backends)[0].values = [4]int64{1, 1, 1, 1}
	press(m, ":", "'read limit", "enter")
	contains(t, m, "history   █▂ 4")
	m.key("p", "p")
	if s := m.series("limit"); len(s.rows) != 2 || len(m.past) != 0 {
		t.Errorf("pinned with %d samples", len(s.rows))
	}
	// A back end that is started again begins behind a gap, whatever the old one was asked.
	m.asked, m.ended = true, "gone"
	begin(m, m.restart())
	s := m.series("limit")
	press(m, ":", "'read limit", "enter")
	if got := fmt.Sprint(s.total(showRaw)); got != "[28 4 NaN 28]" || m.asked || !m.ticking {
		t.Errorf("%s, asked %v, ticking %v", got, m.asked, m.ticking)
	}
}

func (b *fakeBackend) Refresh(ctx context.Context) (*catalog.Catalog, error) {
	return b.Catalog(ctx, func(string) {})
}

// refreshing is a back end whose library has a variable more when it is asked again.
type refreshing struct{ *fakeBackend }

func (r refreshing) Refresh(ctx context.Context) (*catalog.Catalog, error) {
	c, err := r.Catalog(ctx, func(string) {})
	c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: "added", Type: catalog.TypeInt, After: ok(catalog.TypeInt, 3)})
	c.Cvars[2].After = ok(catalog.TypeInt, 8)
	c.Categories = append(c.Categories, catalog.Category{Name: "new", After: true})
	return c, err
}

// What a library adds is taken in by r: cursor, search, pins and what has changed stay.
func TestRefresh(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	m.backend = refreshing{b}
	press(m, ":", "'show limit", "enter")
	m.key("p", "p")
	event(m, b, link.Event{Kind: link.EventChanged, Rank: 1})
	contains(t, m, "the library's variables or categories have changed: r reads them again", "NEW VARIABLES: r")
	press(m, "r")
	contains(t, m, "5 variables, 1 of them new; 1 other category")
	e := m.current()
	if e == nil || e.v.Name != "limit" || !e.pinned || !e.updated || e.first != "7" || m.stale {
		t.Fatalf("%+v", e)
	}
	press(m, "r")
	contains(t, m, "read 4 variables on 4 ranks")
}

func TestLostBackend(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	b.gone = true
	event(m, b, link.Event{Kind: link.EventEnded, Rank: 1, Text: "killed by signal 11", Variable: "limit"})
	contains(t, m, "back end lost", "killed by signal 11", "limit", "BACK END LOST", "R restart")
	press(m, "j", "/", "'mess", "enter") // what was read stays
	contains(t, m, "messages")
	press(m, "esc", "r")
	contains(t, m, "back end lost")
	begin(m, m.key("R", "R"))
	if len(*backends) != 2 || fmt.Sprint((*backends)[1].exclude) != "[limit]" || !b.closed {
		t.Fatalf("restarted with %v", (*backends)[1].exclude)
	}
	press(m, ":", "'show limit", "enter")
	contains(t, m, "4 ranks", "faulty: it ended a back end and is skipped")
	if strings.Contains(onScreen(t, m), "LOST") {
		t.Error("still lost")
	}

	m = New(Options{Start: func(context.Context, []string, []string) (link.Backend, error) { return nil, errors.New("no mpirun") }})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(m.start(nil)())
	contains(t, m, "no mpirun", "R restart")
}

// R restarts also from under a dialog or a screen of text: the line at the foot says so.
func TestRestartOverDialog(t *testing.T) {
	for _, keys := range [][]string{
		{":", "'show limit", "enter", "e", "ctrl+u", "'9", "enter", "y"}, // the outcome is still shown
		{":", "'show algorithm", "enter", "e"},                           // an item is being chosen
		{"?"},
		{"W"},
		{"f"},
	} {
		m, backends := fakeSession(t, Options{})
		press(m, keys...)
		event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Rank: 1, Text: "killed"})
		begin(m, m.key("R", "R"))
		if m.ended != "" || m.mode != modeNormal || len(*backends) != 2 {
			t.Errorf("R after %q: ended %q, mode %d, %d back ends", keys, m.ended, m.mode, len(*backends))
		}
	}
}

// mpitx's own variables are in a branch of their own; they are explained, and neither watched nor written.
func TestVirtual(t *testing.T) {
	own := []catalog.Variable{{Kind: catalog.Virtual, Name: "mpitx:bytes_sent", Class: catalog.ClassAggregate, Type: catalog.TypeUint64, Unit: "B", Description: "bytes sent"}}
	m, backends := fakeSession(t, Options{Virtual: own})
	b := (*backends)[0]
	press(m, ":", "'show mpitx:bytes_sent", "enter")
	contains(t, m, "performance variable of mpitx, class aggregate, uint64, in B", "inside applications: mpitx sample --pvar mpitx:bytes_sent -- ./app")
	press(m, "p")
	contains(t, m, "mpitx:bytes_sent is computed inside applications")
	press(m, ":", "'read mpitx:bytes_sent", "enter")
	contains(t, m, "mpitx:bytes_sent is computed inside applications")
	press(m, "e")
	contains(t, m, "mpitx:bytes_sent is computed inside applications: it cannot be written")
	if len(b.writes) > 0 || len(m.watching.list) > 0 {
		t.Error("written or pinned")
	}
	press(m, "/", "'bytes_s")
	contains(t, m, "mpitx:bytes_sent")
}

// Performance variables are written, reset and read and reset, unless the library says that they are readonly or not atomic. There is
// nothing to undo.
func TestPvarChanges(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	b := (*backends)[0]
	v := m.x.entry("messages:counter").v
	v.Readonly, v.Atomic = false, false
	press(m, ":", "'write messages=7", "enter")
	contains(t, m, "performance variable of class counter")
	press(m, "y")
	contains(t, m, "ok", "Esc closes")
	lacks(t, m, "u then undoes it")
	press(m, "esc", ":", "'reset messages", "enter", "esc", ":", "'readreset messages", "enter")
	contains(t, m, "messages has no readreset: the library says that it is not atomic (MPI_T_ERR_PVAR_NO_ATOMIC)")
	v.Atomic = true
	press(m, ":", "'readreset messages", "enter", "esc", ":", "'reset limit", "enter")
	contains(t, m, "limit is not a performance variable: only these are reset")
	v.Readonly = true
	press(m, ":", "'reset messages", "enter")
	contains(t, m, "messages has no reset: the library says that it is readonly (MPI_T_ERR_PVAR_NO_WRITE)")
	press(m, ":", "'write messages=8", "enter")
	contains(t, m, "messages cannot be written: the library says that it is readonly (MPI_T_ERR_PVAR_NO_WRITE)")
	want := []catalog.WriteRequest{{Name: "messages:counter", Text: "7"}, {Name: "messages:counter", Kind: catalog.WriteReset}, {Name: "messages:counter", Kind: catalog.WriteReadReset}}
	if !slices.EqualFunc(b.writes, want, func(x, y catalog.WriteRequest) bool { return x.Name == y.Name && x.Text == y.Text && x.Kind == y.Kind }) || len(m.edits()) > 0 {
		t.Errorf("writes %+v, edits %v", b.writes, m.edits())
	}
}

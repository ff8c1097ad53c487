package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
)

// The tests' back end is this test's own binary, which plays a part.
const partVariable = "MPITX_LINK_PART"

func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		play(part)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type actor struct {
	w *Writer
	r *Reader
}

func (a *actor) say(r Reply) {
	b, _ := json.Marshal(r)
	a.w.Write(b)
}

// hear waits for a request of a kind.
func (a *actor) hear(do string) Request {
	for {
		it, err := a.r.Next()
		if err != nil {
			os.Exit(0)
		}
		var r Request
		if it.Message != nil && json.Unmarshal(it.Message, &r) == nil && r.Do == do {
			return r
		}
	}
}

func (a *actor) catalog(variables int) {
	c := &catalog.Catalog{Job: catalog.Job{Size: 2}}
	for k := range variables {
		c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: fmt.Sprintf("variable_%06d", k), Type: catalog.TypeInt,
			After: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeInt, []byte{byte(k), 0, 0, 0}), Count: 1}})
	}
	var b bytes.Buffer
	if err := catalog.Write(&b, c); err != nil {
		panic(err)
	}
	parts := (b.Len() + 65535) / 65536
	for k := 1; k <= parts; k++ {
		a.say(Reply{Is: IsCatalog, Part: k, Parts: parts, Data: bytes.Clone(b.Next(65536))})
	}
}

func (a *actor) sample(r Request) Reply {
	readings := make(Readings, len(r.Variables))
	for k := range readings {
		value := catalog.NewValue(catalog.TypeInt, []byte{byte(r.Variables[k]), byte(r.Variables[k] >> 8), 0, 0})
		readings[k] = catalog.Reading{Status: catalog.StatusOK, Value: value}
	}
	return Reply{Is: IsSample, ID: r.ID, Ranks: []RankSample{{Rank: 0, Readings: readings}}, Silent: []int{1}}
}

func play(part string) {
	a := &actor{NewWriter(os.Stdout), NewReader(os.Stdin)}
	fmt.Print("the launcher's greeting without an end")
	a.say(Reply{Is: IsHello, Version: Version})
	a.hear(DoHello)
	a.say(Reply{Is: IsPhase, Text: "acting"})
	switch part {
	case "plain", "large":
		n := 1200
		if part == "large" {
			n = 100_000
		}
		a.catalog(n)
		for {
			a.say(a.sample(a.hear(DoRead)))
		}
	case "old":
		a.say(Reply{Is: IsHello, Version: Version + 1})
		a.hear(DoEnd)
	case "damage":
		a.catalog(2)
		r := a.hear(DoRead)
		var line bytes.Buffer
		b, _ := json.Marshal(a.sample(r))
		w := NewWriter(&line)
		w.seq = a.w.seq
		w.Write(b)
		a.w.seq = w.seq
		os.Stdout.Write(bytes.Replace(line.Bytes(), []byte(" ="), []byte(" foreign ="), 1))
		a.say(a.sample(a.hear(DoRead)))
		a.hear(DoEnd)
	case "half":
		a.catalog(2)
		a.hear(DoRead)
		fmt.Print(magic + "0000")
		os.Exit(3)
	case "mute":
		a.catalog(2)
		r := a.hear(DoRead)
		c := a.hear(DoCancel)
		fmt.Fprintln(os.Stderr, "cancelled", c.ID == r.ID)
		a.hear(DoEnd)
	case "deaf":
		fmt.Println("deaf")
		time.Sleep(time.Hour)
	case "crash":
		a.catalog(2)
		a.hear(DoRead)
		a.say(Reply{Is: IsEnded, Rank: 1, Text: "killed by SIGSEGV", Variable: "variable_000001"})
		os.Exit(1)
	}
}

func start(t *testing.T, part string) *Client {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(context.Background(), Options{Command: []string{exe}, Env: append(os.Environ(), partVariable+"="+part)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func ids(from, to int) (out []string) {
	for k := from; k < to; k++ {
		out = append(out, fmt.Sprintf("variable_%06d", k))
	}
	return out
}

// Many variables are read in several requests, and come back in their order.
func TestRead(t *testing.T) {
	t.Parallel()
	c := start(t, "plain")
	if _, err := c.Read(limited(t), ids(0, 1)); err == nil {
		t.Error("read without a catalog")
	}
	var phases []string
	k, err := c.Catalog(limited(t), func(p string) { phases = append(phases, p) })
	if err != nil || len(k.Cvars) != 1200 || len(phases) == 0 {
		t.Fatalf("%v, phases %q", err, phases)
	}
	s, err := c.Read(limited(t), ids(0, 1200))
	if err != nil || len(s.Ranks) != 1 || len(s.Silent) != 1 {
		t.Fatalf("%v %+v", err, s)
	}
	for k, r := range s.Ranks[0].Readings {
		if r.Status != catalog.StatusOK || r.Value.Int(0) != int64(k) {
			t.Fatalf("variable %d reads %+v", k, r)
		}
	}
	if _, err := c.Read(limited(t), []string{"nothing"}); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("%v", err)
	}
	if e := <-c.Events(); e.Kind != EventLog || e.Text != "the launcher's greeting without an end" {
		t.Errorf("%+v", e)
	}
}

func TestLarge(t *testing.T) {
	t.Parallel()
	c := start(t, "large")
	first, progress := time.Now(), 0
	k, err := c.Catalog(limited(t), func(string) { progress++ })
	if err != nil || len(k.Cvars) != 100_000 || progress < 2 {
		t.Fatalf("%v, progress %d", err, progress)
	}
	t.Logf("100,000 variables in %s", time.Since(first))
}

func TestOtherVersion(t *testing.T) {
	t.Parallel()
	if _, err := start(t, "old").Catalog(limited(t), nil); err == nil || !strings.Contains(err.Error(), "version") {
		t.Error(err)
	}
}

// An answer into which something was printed fails at once, not at its deadline; the next one is well.
func TestDamagedAnswer(t *testing.T) {
	t.Parallel()
	c := start(t, "damage")
	if _, err := c.Catalog(limited(t), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(limited(t), ids(0, 2)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Fatal(err)
	}
	if _, err := c.Read(limited(t), ids(0, 2)); err != nil {
		t.Fatal(err)
	}
}

func TestEnd(t *testing.T) {
	for part, want := range map[string]Event{
		"half":  {Kind: EventEnded, Rank: -1, Text: "exit status 3"},
		"crash": {Kind: EventEnded, Rank: 1, Text: "killed by SIGSEGV", Variable: "variable_000001"},
	} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			c := start(t, part)
			if _, err := c.Catalog(limited(t), nil); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := c.Read(limited(t), ids(0, 2)); !errors.Is(err, ErrEnded) {
					t.Fatal(err)
				}
			}
			var last Event
			for e := range c.Events() {
				last = e
			}
			if last != want {
				t.Errorf("%+v", last)
			}
		})
	}
}

// A request that is given up is withdrawn.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := start(t, "mute")
	if _, err := c.Catalog(limited(t), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Read(ctx, ids(0, 2)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	for e := range c.Events() {
		if strings.HasPrefix(e.Text, "cancelled") {
			if e.Text != "cancelled true" {
				t.Error(e.Text)
			}
			return
		}
	}
	t.Error("no cancel came")
}

// A back end that does not hear is ended all the same.
func TestCloseDeaf(t *testing.T) {
	t.Parallel()
	c := start(t, "deaf")
	for e := range c.Events() {
		if strings.HasSuffix(e.Text, "deaf") {
			break
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Catalog(limited(t), nil); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

func TestNoCommand(t *testing.T) {
	for _, argv := range [][]string{nil, {"/nowhere/mpitx"}} {
		if _, err := Start(context.Background(), Options{Command: argv}); err == nil {
			t.Errorf("%q started", argv)
		}
	}
}

// What nobody reads does not hold up the back end, nor grow; the end is there all the same.
func TestUnreadEvents(t *testing.T) {
	e := newEvents()
	for k := range 3 * maxLog {
		e.put(Event{Kind: EventLog, Text: fmt.Sprint(k)})
	}
	e.put(Event{Kind: EventSilent, Rank: 3})
	for range 2 * maxLog {
		e.put(Event{Kind: EventLog, Text: "more"})
	}
	e.put(Event{Kind: EventEnded})
	e.put(Event{Kind: EventLog, Text: "behind the end"})
	n, silent, last := 0, 0, Event{}
	for last = range e.out {
		n++
		if last.Kind == EventSilent {
			silent++
		}
	}
	if n > maxLog+2 || silent != 1 || last.Kind != EventEnded {
		t.Errorf("%d events, %d silent, the last %+v", n, silent, last)
	}
}

var _ Backend = (*Client)(nil)
var _ io.Writer = (*lineWriter)(nil)

//go:build linux

package serve

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/inspect"
	"mpitx/inspect/transport"
	"mpitx/ui/link"
)

// stage is a server whose ranks receive but do not answer.
type stage struct {
	*server
	said bytes.Buffer
}

func newStage(ranks int) *stage {
	c := &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "a"}, {Kind: catalog.Cvars, Name: "b"}}}}
	st := &stage{}
	st.server = &server{job: &inspect.Job{Live: inspect.Live{Backend: &transport.Child{}}}, prepare: func(*catalog.Catalog) {}, w: link.NewWriter(&st.said),
		timers: make(chan uint64, 8), size: ranks, peers: map[int]*peer{}, asked: map[uint64]*asked{}}
	st.take(c)
	for rank := range ranks {
		st.peers[rank] = &peer{Sender: make(transport.Sender, 8), rank: rank, host: "n", open: tasks{}}
	}
	return st
}

// replies are the screen's messages since the last call.
func (st *stage) replies(t *testing.T) (all []link.Reply) {
	t.Helper()
	r := link.NewReader(&st.said)
	for {
		it, err := r.Next()
		if err != nil {
			return all
		}
		if it.Message == nil { // a gap before the first line: the reader is new
			continue
		}
		var reply link.Reply
		if err := json.Unmarshal(it.Message, &reply); err != nil {
			t.Fatal(err)
		}
		all = append(all, reply)
	}
}

// received are the kinds of frames that a rank got since the last call.
func (st *stage) received(rank int) (kinds string) {
	for len(st.peers[rank].Sender) > 0 {
		kinds += string((<-st.peers[rank].Sender).Kind)
	}
	return kinds
}

func (st *stage) answers(rank int, a answer) { st.answer(st.peers[rank], transport.Pack(a)) }

func TestRefusals(t *testing.T) {
	st := newStage(2)
	delete(st.peers, 1)
	for _, c := range []struct {
		r    link.Request
		want string
	}{
		{link.Request{Do: link.DoRead, Variables: []int{0, 2}}, "read: there is no variable 2"},
		{link.Request{Do: link.DoWrite}, "nothing to write"},
		{link.Request{Do: link.DoWrite, Write: &catalog.WriteRequest{Name: "a", Ranks: []int{0, 2}}}, "ranks are 0 to 1"},
		{link.Request{Do: link.DoWrite, Write: &catalog.WriteRequest{Name: "a", Ranks: []int{}}}, "ranks are 0 to 1"},
		{link.Request{Do: link.DoWorkload, Name: "nosuch"}, `workload "nosuch": unknown`},
		{link.Request{Do: link.DoWorkload, Name: "halo"}, "it needs all ranks"},
		{link.Request{Do: "dance"}, `"dance": unknown request`},
	} {
		c.r.ID = 7
		st.request(c.r)
		got := st.replies(t)
		if len(got) != 1 || got[0].Is != link.IsError || got[0].ID != 7 || !strings.Contains(got[0].Text, c.want) {
			t.Errorf("%+v: %+v, want %s", c.r, got, c.want)
		}
	}
	if h := st.received(0); h != "" {
		t.Errorf("rank 0 got %q", h)
	}
}

// A rank that does not answer in time is silent. The others' answers count. It gets no more tasks until it has answered, and the screen is
// notified of both.
func TestSilentRank(t *testing.T) {
	st := newStage(3)
	read := link.Request{ID: 1, Do: link.DoRead, Variables: []int{1}, Millis: 3_600_000}
	st.request(read)
	for _, rank := range []int{2, 0} {
		st.answers(rank, answer{Number: 1, Host: "n", Readings: []catalog.Reading{{Status: catalog.StatusMissing}}})
	}
	if got := st.replies(t); got != nil {
		t.Fatalf("an answer before rank 1's: %+v", got)
	}
	st.late(1)
	got := st.replies(t)
	if len(got) != 1 || got[0].Is != link.IsSample || len(got[0].Ranks) != 2 || got[0].Ranks[1].Rank != 2 || !slices.Equal(got[0].Silent, []int{1}) {
		t.Fatalf("%+v", got)
	}
	want := string([]byte{transport.FrameTask, transport.FrameCancel, transport.FrameWhere})
	if h := st.received(1); h != want {
		t.Errorf("rank 1 got %q, want %q", h, want)
	}

	read.ID = 2
	st.request(read)
	if h := st.received(1); h != "" {
		t.Errorf("a silent rank got %q", h)
	}
	st.answers(1, answer{Number: 1})
	if got := st.replies(t); len(got) != 1 || got[0].Is != link.IsAnswers || got[0].Rank != 1 {
		t.Errorf("%+v", got)
	}
	st.answers(0, answer{Number: 2})
	st.answers(2, answer{Number: 2})
	if got := st.replies(t); len(got) != 1 || got[0].ID != 2 || !slices.Equal(got[0].Silent, []int{1}) {
		t.Errorf("%+v", got)
	}
}

// A cancelled request has no answer. Its task is cancelled on all ranks that have not answered.
func TestCancel(t *testing.T) {
	st := newStage(2)
	st.request(link.Request{ID: 5, Do: link.DoRead, Variables: []int{0}, Millis: 3_600_000})
	st.answers(0, answer{Number: 1})
	st.request(link.Request{ID: 5, Do: link.DoCancel})
	st.answers(1, answer{Number: 1, Failed: "withdrawn"})
	if got := st.replies(t); got != nil || len(st.asked) != 0 {
		t.Errorf("%+v, %d requests", got, len(st.asked))
	}
	for rank, want := range []string{string(rune(transport.FrameTask)), string([]byte{transport.FrameTask, transport.FrameCancel})} {
		if h := st.received(rank); h != want {
			t.Errorf("rank %d got %q, want %q", rank, h, want)
		}
	}
}

// Writes for some ranks go only to them, and the answers are in order of the ranks. A rank that does not answer may have written.
func TestWriteOutcomes(t *testing.T) {
	st := newStage(3)
	st.request(link.Request{ID: 1, Do: link.DoWrite, Write: &catalog.WriteRequest{Name: "a", Text: "1", Ranks: []int{2, 0, 2}}, Millis: 3_600_000})
	if h := st.received(1); h != "" {
		t.Errorf("rank 1 got %q", h)
	}
	st.answers(2, answer{Number: 1, Outcomes: catalog.Outcomes{{Name: "a", Rank: 2, Result: catalog.WriteOK}}})
	st.late(1)
	got := st.replies(t)
	if len(got) != 2 || got[0].Is != link.IsSilent || got[1].Is != link.IsOutcomes || len(got[1].Outcomes) != 2 ||
		got[1].Outcomes[0].Result != catalog.WriteNoAnswer || got[1].Outcomes[1].Result != catalog.WriteOK {
		t.Errorf("%+v", got)
	}
}

func TestTaskVariable(t *testing.T) {
	open := tasks{3: {Do: link.DoRead, IDs: []string{"a", "b"}}, 4: {Do: link.DoWrite, Write: catalog.WriteRequest{Name: "c"}}}
	for _, c := range []struct {
		number uint64
		k      int
		want   string
	}{{3, 1, "b"}, {3, 2, ""}, {3, -1, ""}, {4, 0, "c"}, {5, 0, ""}} {
		if got := open.variable(c.number, c.k); got != c.want {
			t.Errorf("access %d of task %d: %q, want %q", c.k, c.number, got, c.want)
		}
	}
}

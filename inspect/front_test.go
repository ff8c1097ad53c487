//go:build linux

package inspect

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/inspect/transport"
	"mpitx/machine"
)

// newStory is a front on a rank whose back ends are scripted frames.
func newStory(rank int) *front {
	child := func() *transport.Child {
		return &transport.Child{Phase: "reading variables", Sender: make(transport.Sender, 8)}
	}
	f := &front{o: Options{Launch: machine.Launch{Rank: rank, Size: 2}, Timeout: time.Minute}}
	f.Backend = child()
	f.after.Child, f.before.Child = f.Backend, child()
	return f
}

func (f *front) got(s *stage, kind byte, payload []byte) {
	f.take(transport.Event{From: s.Child, Frame: transport.Frame{Kind: kind, Payload: payload}})
}

// seen is the data of a process with one control variable.
func seen(rank int, value string) *catalog.Process {
	v := catalog.Variable{Kind: catalog.Cvars, Name: "a", Type: catalog.TypeInt}
	x, _ := catalog.ParseValue(&v, nil, 1, value)
	return &catalog.Process{Rank: rank, Host: "n", Stage: catalog.Stage{Read: true, Cvars: 1},
		Meta: catalog.Meta{Lists: catalog.Lists{Cvars: []catalog.Variable{v}}}, Readings: []catalog.Reading{{Status: catalog.StatusOK, Value: x, Count: 1}}}
}

func TestFront(t *testing.T) {
	f := newStory(0)
	root := seen(0, "1")
	f.got(&f.before, transport.FrameProcess, root.AppendBinary(nil))
	f.got(&f.before, transport.FrameResult, transport.Pack(result{}))
	if fr := <-f.Backend.Sender; fr.Kind != transport.FrameBefore || len(fr.Payload) == 0 {
		t.Errorf("the after back end got %c with %d bytes", fr.Kind, len(fr.Payload))
	}
	f.got(&f.after, transport.FrameProcess, root.AppendBinary(nil))
	f.got(&f.after, transport.FrameDelta, root.Root().Diff(seen(1, "2")).AppendBinary(nil))
	if !f.waiting() {
		t.Error("nothing is to come before the result")
	}
	f.got(&f.after, transport.FrameResult, transport.Pack(result{Hosts: map[int]string{0: "n"}}))
	if f.waiting() {
		t.Error("something is to come after both results")
	}
	j, err := f.root()
	if err != nil {
		t.Fatal(err)
	}
	if v := j.Catalog.Cvar("a"); v.Before == nil || v.After == nil || len(v.Ranks) != 1 || v.Ranks[0].Value.String() != "2" {
		t.Errorf("%+v", v)
	}

	j.Settle(3)
	j.Settle(4)
	if fr := <-f.Backend.Sender; fr.Kind != transport.FrameVerdict || fr.Payload[0] != 3 || len(f.Backend.Sender) > 0 {
		t.Errorf("the verdict is %c %v, and %d more", fr.Kind, fr.Payload, len(f.Backend.Sender))
	}
}

// With one stage the answer names what is missing. Without both it is an error that names both.
func TestFrontFailures(t *testing.T) {
	f := newStory(0)
	f.take(transport.Event{From: f.before.Child, Status: syscall.WaitStatus(syscall.SIGSEGV)})
	if fr := <-f.Backend.Sender; fr.Kind != transport.FrameBefore || len(fr.Payload) > 0 {
		t.Errorf("the after back end got %c with %d bytes", fr.Kind, len(fr.Payload))
	}
	f.got(&f.after, transport.FrameProcess, seen(0, "1").AppendBinary(nil))
	f.got(&f.after, transport.FrameResult, transport.Pack(result{Lost: map[int]string{1: "did not answer"}}))
	j, err := f.root()
	if err != nil || f.waiting() || !strings.Contains(j.Catalog.Before.Error, "SIGSEGV in: reading variables") || !j.Catalog.After.Read {
		t.Fatalf("%v %+v", err, j)
	}
	if lost := j.LostText(); len(lost) != 1 || lost[0] != "rank 1 on an unknown host: did not answer" {
		t.Error(lost)
	}

	f = newStory(0)
	f.got(&f.before, transport.FrameError, transport.Pack(failure{Text: "no shim"}))
	f.got(&f.after, transport.FrameProcess, []byte("damaged"))
	if _, err := f.root(); err == nil || !strings.HasPrefix(err.Error(), "the library could not be read: ") || !strings.HasSuffix(err.Error(), "; before MPI_Init: no shim") {
		t.Error(err)
	}

	f = newStory(0)
	f.got(&f.before, transport.FrameProcess, seen(0, "1").AppendBinary(nil))
	f.got(&f.before, transport.FrameResult, transport.Pack(result{}))
	f.got(&f.after, transport.FrameError, transport.Pack(failure{Text: "another MPI", Whole: true}))
	if _, err := f.root(); err == nil || err.Error() != "another MPI" {
		t.Error(err)
	}
}

// Ranks other than 0 get the job's exit code instead of an answer, or an invitation, and then continue before the job ends.
func TestFollower(t *testing.T) {
	f := newStory(1)
	f.got(&f.after, transport.FrameAgreed, []byte{3})
	if !f.waiting() {
		t.Error("the back end has not ended")
	}
	f.take(transport.Event{From: f.Backend})
	if j, err := f.follower(); err != nil || f.waiting() || j.Root || j.Finish(0) != 3 || len(j.Invitation) > 0 {
		t.Errorf("%v %+v", err, j)
	}

	f = newStory(1)
	f.got(&f.after, transport.FrameAgreed, []byte{0, 'i'})
	if j, err := f.follower(); err != nil || f.waiting() || string(j.Invitation) != "i" {
		t.Errorf("%v %+v", err, j)
	}

	f = newStory(1)
	f.got(&f.after, transport.FrameHello, transport.Pack(hello{Rank: 1, Size: 2, Host: "n7"}))
	f.take(transport.Event{From: f.Backend, Status: syscall.WaitStatus(syscall.SIGABRT)})
	f.Signals = make(chan os.Signal, 1)
	f.Signals <- syscall.SIGTERM // rank 0 has given up on us
	_, err := f.follower()
	if e, ok := err.(*Error); !ok || e.Quiet || e.Text != "rank 1 on n7: the MPI process was killed by SIGABRT in: reading variables" {
		t.Errorf("%v", err)
	}
}

// A signal or the time limit ends back ends that have not finished, and the answer names what is missing.
func TestStop(t *testing.T) {
	f := newStory(0)
	f.got(&f.before, transport.FrameProcess, seen(0, "1").AppendBinary(nil))
	f.got(&f.before, transport.FrameResult, transport.Pack(result{}))
	f.stop("no answer within 1s", true)
	if f.waiting() || f.before.failed != nil || f.after.failed == nil || f.after.failed.Text != "reading variables: no answer within 1s" {
		t.Errorf("%+v %+v", f.before.failed, f.after.failed)
	}
}

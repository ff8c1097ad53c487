//go:build cgo && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/ui/link"
)

// A rank hangs in a read. The others answer, the rank is named with the variable, and it answers again when the read returns.
func TestServeHang(t *testing.T) {
	t.Parallel()
	environ := append(testEnvironment(t), "FAKEMPI_FAULTS=hang-read=demo_eager_limit@2/itself")
	s := backendServe(t, environ, "mpitx", "backend", "serve", "-n", "4")
	sample := s.read(10*time.Second, "demo_eager_limit")
	if !slices.Equal(sample.Silent, []int{2}) || !slices.Equal(ranksOf(sample), []int{0, 1, 3}) {
		t.Fatalf("ranks %v answered, %v did not", ranksOf(sample), sample.Silent)
	}
	if e := s.event(link.EventSilent); e.Rank != 2 || e.Variable != "demo_eager_limit" {
		t.Errorf("%+v", e)
	}
	start := time.Now()
	sample = s.read(time.Minute, "demo_rank")
	if !slices.Equal(sample.Silent, []int{2}) || time.Since(start) > 30*time.Second {
		t.Errorf("a rank that is known to be silent was waited for: %v in %s", sample.Silent, time.Since(start))
	}
	out := s.write(catalog.WriteRequest{Name: "demo_eager_limit", Text: "100"})
	if len(out) != 4 || out[2].Result != catalog.WriteNoAnswer || out[3].Result != "ok" {
		t.Errorf("%+v", out)
	}
}

// A rank is stopped, also on real MPIs. The others answer within the time limit, also to writes. The rank is reported as silent, and answers
// again after SIGCONT.
func TestServeStopped(t *testing.T) {
	t.Parallel()
	for family, argv := range serveCommands() {
		t.Run(family, func(t *testing.T) {
			s := serveOn(t, family, argv)
			ids := idsOf(s.catalog)[:20]
			pid := 0
			for _, p := range s.p.backends("after") {
				text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p))
				for _, variable := range []string{"FAKEMPI_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"} {
					if strings.Contains(string(text), "\x00"+variable+"=2\x00") {
						pid = p
					}
				}
			}
			if pid == 0 {
				t.Fatalf("no rank 2 among\n%s", s.p.describe())
			}
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			const limit = 10 * time.Second // the answer needs up to two of them
			start := time.Now()
			sample := s.read(limit, ids...)
			if took := time.Since(start); !slices.Equal(sample.Silent, []int{2}) || !slices.Equal(ranksOf(sample), []int{0, 1, 3}) || took > limit {
				t.Fatalf("ranks %v answered, %v did not, in %s", ranksOf(sample), sample.Silent, took)
			}
			if e := s.event(link.EventSilent); e.Rank != 2 {
				t.Errorf("%+v", e)
			}
			if sample = s.read(servedLimit, ids...); !slices.Equal(sample.Silent, []int{2}) {
				t.Errorf("a second time %v did not answer", sample.Silent)
			}
			syscall.Kill(pid, syscall.SIGCONT)
			if e := s.event(link.EventAnswers); e.Rank != 2 {
				t.Errorf("%+v", e)
			}
			if sample = s.read(servedLimit, ids...); len(sample.Ranks) != 4 || len(sample.Silent) != 0 {
				t.Errorf("afterwards %v did not answer", sample.Silent)
			}
			exercise(t, s.Client, "pingpong")
			exercise(t, s.Client, "")
			if text := s.end(); !strings.Contains(text, "ended as asked") {
				t.Error(text)
			}
		})
	}
}

// A rank that takes longer than the limit, which is 0.3 s here, is silent until it has answered.
func TestServeSlow(t *testing.T) {
	t.Parallel()
	environ := append(testEnvironment(t), "FAKEMPI_FAULTS=slow-read=demo_eager_limit@1/itself")
	s := backendServe(t, environ, "mpitx", "backend", "serve", "-n", "2")
	var sample *link.Sample
	for end := time.Now().Add(servedLimit); sample == nil; {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		var err error
		if sample, err = s.Read(ctx, []string{"demo_eager_limit"}); err != nil && (!errors.Is(err, context.DeadlineExceeded) || time.Now().After(end)) {
			t.Fatal(err)
		}
		cancel()
	}
	if !slices.Contains(sample.Silent, 1) {
		t.Fatalf("%v answered", ranksOf(sample))
	}
	for _, kind := range []link.EventKind{link.EventSilent, link.EventAnswers} {
		for e := s.event(kind); e.Rank != 1; e = s.event(kind) { // other ranks, on a busy machine
		}
	}
	if sample := s.read(servedLimit, "demo_eager_limit"); !slices.Contains(ranksOf(sample), 1) {
		t.Errorf("%v did not answer", sample.Silent)
	}
}

// Excluded variables are not tried on any rank, neither before MPI_Init nor after it, so their faults do not occur.
func TestServeExclude(t *testing.T) {
	t.Parallel()
	environ := append(testEnvironment(t), "FAKEMPI_FAULTS=crash-alloc=demo_eager_limit;crash-alloc=demo_messages_sent")
	bin, _ := build()
	exclude := []string{"demo_eager_limit", "demo_messages_sent:counter"}
	s := serveWithout(t, environ, exclude, filepath.Join(bin, "mpitx"), "backend", "serve", "-n", "3")
	for _, id := range exclude {
		name, _, _ := strings.Cut(id, ":")
		for _, v := range s.catalog.Lookup(name) {
			if v.ID() != id {
				continue
			}
			for _, r := range []*catalog.Reading{v.Before, v.After} {
				if r == nil || r.Status != catalog.StatusFaulty || !strings.HasPrefix(r.Reason, "excluded") {
					t.Errorf("%s: %+v", id, r)
				}
			}
		}
	}
	for _, r := range s.read(servedLimit, "demo_eager_limit", "demo_messages_sent:counter", "demo_rank").Ranks {
		if !strings.HasPrefix(r.Readings[0].Reason, "excluded") || !strings.HasPrefix(r.Readings[1].Reason, "excluded") || r.Readings[2].Status != catalog.StatusOK {
			t.Errorf("rank %d: %+v", r.Rank, r.Readings)
		}
	}
	if out := s.write(catalog.WriteRequest{Name: "demo_eager_limit", Text: "1"}); out[1].Result != "faulty" || !strings.Contains(out[1].Detail, "excluded") {
		t.Errorf("%+v", out[1])
	}
}

// A back end dies in an access. The variable is named, and a back end that excludes it survives.
func TestServeCrash(t *testing.T) {
	for _, n := range []string{"1", "4"} {
		t.Run(n, func(t *testing.T) {
			t.Parallel()
			rank := "0"
			if n != "1" {
				rank = "2"
			}
			environ := append(testEnvironment(t), "FAKEMPI_FAULTS=crash-read=demo_eager_limit@"+rank+"/itself")
			s := backendServe(t, environ, "mpitx", "backend", "serve", "-n", n)
			ctx, cancel := context.WithTimeout(context.Background(), servedLimit)
			defer cancel()
			if _, err := s.Read(ctx, []string{"demo_rank", "demo_eager_limit"}); !errors.Is(err, link.ErrEnded) {
				t.Errorf("read: %v", err)
			}
			e := s.event(link.EventEnded)
			if fmt.Sprint(e.Rank) != rank || e.Variable != "demo_eager_limit" || !strings.Contains(e.Text, "SIGSEGV") {
				t.Errorf("%+v", e)
			}
			s.Close()
			again := serveWithout(t, environ, []string{e.Variable}, s.argv...)
			sample, err := again.Read(ctx, []string{"demo_rank", "demo_eager_limit"})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range sample.Ranks {
				if r.Readings[0].Status != catalog.StatusOK || r.Readings[1].Status != catalog.StatusFaulty {
					t.Errorf("rank %d: %+v", r.Rank, r.Readings)
				}
			}
		})
	}
}

// If any of the processes is killed, all exit, and the screen is notified.
func TestServeKilled(t *testing.T) {
	for _, victim := range []string{"screen", "launcher", "rank 0", "rank 1", "back end 0", "back end 1"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			environ := testEnvironment(t)
			if victim == "screen" {
				killedScreen(t, environ)
				return
			}
			s := backendServe(t, environ, "mpitx", "backend", "serve", "-n", "3")
			pid := 0
			for _, p := range s.p.alive() {
				text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p))
				line := cmdline(p)
				back := strings.Contains(line, " backend after ")
				is := "launcher"
				for r := range 3 {
					if strings.Contains(string(text), fmt.Sprintf("\x00FAKEMPI_RANK=%d\x00", r)) {
						is = fmt.Sprintf("rank %d", r)
						if back {
							is = fmt.Sprintf("back end %d", r)
						}
					}
				}
				if is == victim {
					pid = p
				}
			}
			if pid == 0 {
				t.Fatalf("no %s among\n%s", victim, s.p.describe())
			}
			syscall.Kill(pid, syscall.SIGKILL)
			s.t.Logf("%+v", s.event(link.EventEnded))
			s.gone()
		})
	}
}

// killedScreen plays a screen that gets SIGKILL: only its end of the pipes closes.
func killedScreen(t *testing.T, environ []string) {
	in, screen, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(environ, "", "mpitx", "backend", "serve", "-n", "3")
	p.cmd.Stdin = in
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	link.NewWriter(screen).Write([]byte(`{"do":"hello","version":1}`))
	for deadline := time.Now().Add(servedLimit); len(p.backends("after")) < 3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no back ends")
		}
	}
	screen.Close()
	p.wait(servedLimit)
	if p.failure != "" {
		t.Error(p.failure)
	}
}

//go:build cgo && linux

package inspect

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/inspect/transport"
	"mpitx/machine"
	"mpitx/settings"
)

// Ranks send messages to rank 0 only, and only when they are ready. So a rank that hangs is one that rank 0 receives
// nothing from, and does not delay the others.
const (
	tagHello   = 1001 + iota // to rank 0: hello
	tagReady                 // to rank 0: ready for its root
	tagRoot                  // from rank 0: rootStages
	tagReport                // to rank 0: report
	tagVerdict               // from rank 0: the exit code
)

// lead runs on rank 0: it collects the reports of the other ranks, sends everything to the front, and passes the
// verdict on.
func (b *Backend) lead(outcomes catalog.Outcomes) (int, error) {
	b.Front.SendAppended(transport.FrameProcess, b.Process.AppendBinary)
	failed, settings, bindings := map[int]string{}, map[int][]string{}, map[int]string{}
	bindings[0] = boundTo()
	lost, hosts, err := b.gather(func(rank int, r report) {
		if r.Failed != "" {
			failed[rank] = r.Failed
			return
		}
		b.Front.Send(transport.FrameDelta, r.After)
		if len(r.Before) > 0 {
			b.Front.Send(transport.FrameNode, r.Before)
		}
		outcomes = append(outcomes, r.Outcomes...)
		if r.Differs {
			settings[rank] = r.Settings
		}
		bindings[rank] = r.Binding
	})
	if err != nil {
		return 0, err
	}
	silent := maps.Clone(lost)
	maps.Copy(lost, failed)
	b.Front.Send(transport.FrameResult, transport.Pack(result{Outcomes: outcomes, Lost: lost, Hosts: hosts, Settings: settings, Bindings: bindings}))

	if b.Size == 1 && b.request.Alone {
		return b.alone(), nil
	}
	b.Front.Phase("waiting for the front")
	verdict, _ := b.Front.Await(transport.FrameVerdict, time.Minute)
	if len(verdict) == 0 {
		verdict = []byte{1}
	}
	for r := 1; r < b.Size; r++ {
		if silent[r] == "" {
			if err := b.Mail.Send(verdict, r, tagVerdict); err != nil {
				return 0, err
			}
		}
	}
	if b.request.MPI.Family == machine.MPICH && (severalNodes(hosts) || os.Getenv("UCX_TLS") != "") {
		b.finalizeDelay = finalizeHeadStart
	}
	return b.end(b.carryOut(verdict), len(silent) > 0), nil
}

// finalizeHeadStart is how much later rank 0 enters MPI_Finalize if an MPICH job has several nodes, or is told which transports to use. In
// MPICH with UCX over TCP, ranks wait there for each other's answers; a rank that still polls for messages answers too, and then waits
// in vain for its own.
const finalizeHeadStart = 200 * time.Millisecond

func severalNodes(hosts map[int]string) bool {
	for _, host := range hosts {
		if host != hosts[0] {
			return true
		}
	}
	return false
}

// gather answers every rank that is ready, receives the reports, and gives up on the other ranks after a time without
// messages. lost says how far they got.
func (b *Backend) gather(take func(rank int, r report)) (lost, hosts map[int]string, err error) {
	lost, hosts = map[int]string{}, map[int]string{0: b.Host}
	for r := 1; r < b.Size; r++ {
		lost[r] = "did not return from MPI_Init"
	}
	came := func(rank int, text string) {
		if _, ok := lost[rank]; ok {
			lost[rank] = text
		}
	}
	greeted := map[int]bool{}
	var stages []byte
	messages := []struct {
		tag  int
		take func(from int, data []byte) error
	}{
		{tagHello, func(from int, data []byte) error {
			var h hello
			transport.Unpack(data, &h) // on failure the host is unknown
			hosts[from], greeted[from] = h.Host, true
			came(from, "stopped answering while reading its variables")
			return nil
		}},
		{tagReady, func(from int, _ []byte) error {
			if stages == nil {
				stages = b.stages()
			}
			came(from, "did not send its variables")
			return b.Mail.Send(stages, from, tagRoot)
		}},
		{tagReport, func(from int, data []byte) error {
			var r report
			if err := transport.Unpack(data, &r); err != nil {
				r.Failed = "its report is damaged: " + err.Error()
			} else {
				hosts[from] = r.Host
			}
			delete(lost, from)
			take(from, r)
			return nil
		}},
	}
	last := time.Now()
	for k := 0; len(lost) > 0; k++ {
		for _, m := range messages {
			data, from, ok, err := b.Mail.Receive(binding.AnySource, m.tag)
			if ok && err == nil {
				last, k = time.Now(), 0
				err = m.take(from, data)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		if time.Since(last) > b.request.Patience {
			return lost, hosts, nil
		}
		if k > 0 {
			transport.Pause(k)
		}
	}
	// A late hello has arrived by now. Some libraries complain about unreceived messages in MPI_Finalize.
	for r := 1; r < b.Size; r++ {
		if !greeted[r] {
			b.Mail.Wait(r, tagHello, time.Now().Add(time.Second))
		}
	}
	return lost, hosts, nil
}

// stages are the roots that other ranks compare with.
func (b *Backend) stages() []byte {
	s := rootStages{After: b.Process.Root().AppendBinary(nil), Settings: b.settings()}
	if before := b.before(); before != nil {
		s.Before = before.Root().AppendBinary(nil)
	}
	return transport.Pack(s)
}

// settings are the settings that this process was started with.
func (b *Backend) settings() []string {
	return settings.Query{Impl: b.request.MPI.Impl, Text: b.Process.Meta.Library.Text}.Settings(b.environ)
}

// before is the stage before MPI_Init that the front's other back end read; nil if it failed.
func (b *Backend) before() *catalog.Process {
	if !b.request.Before {
		return nil
	}
	payload, _ := b.Front.Await(transport.FrameBefore, b.request.Patience)
	if len(payload) == 0 {
		return nil
	}
	p, err := catalog.DecodeProcess(payload)
	if err != nil {
		return nil
	}
	return p
}

// follow runs on every other rank.
func (b *Backend) follow(outcomes catalog.Outcomes, failed error) (int, error) {
	deadline := time.Now().Add(2 * b.request.Patience)
	report := report{Host: b.Host, Outcomes: outcomes}
	if failed != nil {
		report.Failed = failed.Error()
	} else {
		if err := b.Mail.Send(nil, 0, tagReady); err != nil {
			return 0, err
		}
		data, err := b.Mail.Wait(0, tagRoot, deadline)
		if err != nil {
			return 0, fmt.Errorf("rank 0: %w", err)
		}
		var s rootStages
		if err := transport.Unpack(data, &s); err != nil {
			return 0, err
		}
		report.After = difference(s.After, b.Process)
		if own := b.settings(); !slices.Equal(own, s.Settings) {
			report.Settings, report.Differs = own, true
		}
		report.Binding = boundTo()
		if before := b.before(); before != nil && len(s.Before) > 0 {
			before.Rank, before.Host = b.Rank, b.Host
			report.Before = difference(s.Before, before)
		}
	}
	if err := b.Mail.Send(transport.Pack(report), 0, tagReport); err != nil {
		return 0, err
	}
	b.Front.Phase("waiting for rank 0")
	verdict, err := b.Mail.Wait(0, tagVerdict, time.Now().Add(4*b.request.Patience))
	if err != nil {
		return 0, fmt.Errorf("rank 0: %w", err)
	}
	if len(verdict) == 0 {
		verdict = []byte{1}
	}
	b.Front.Send(transport.FrameAgreed, verdict)
	return b.end(b.carryOut(verdict), false), nil
}

// difference is p as a difference to rank 0's root; if the root cannot be decoded, it is all of p.
func difference(root []byte, p *catalog.Process) []byte {
	r, err := catalog.DecodeRoot(root)
	if err != nil {
		return (&catalog.Delta{Rank: p.Rank, Whole: p}).AppendBinary(nil)
	}
	return r.Diff(p).AppendBinary(nil)
}

// carryOut does what the verdict asks for and returns the exit code.
func (b *Backend) carryOut(verdict []byte) int {
	if len(verdict) == 1 {
		return int(verdict[0])
	}
	return b.serve(b)
}

// end finalizes MPI unless ranks are missing, for which MPI_Finalize would wait.
func (b *Backend) end(code int, quit bool) int {
	b.Mail.Flush(time.Now().Add(5 * time.Second))
	if quit {
		// The front must exit first: Open MPI 4's mpirun often deadlocks when a process closes its connection.
		select {}
	}
	b.Front.Phase("MPI_Finalize")
	time.Sleep(b.finalizeDelay)
	if err := b.Lib.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, "mpitx: MPI_Finalize:", err)
	}
	binding.Exit(code)
	return code // not reached
}

// alone ends a process without a launcher after it has sent everything. The front does not wait for MPI_Finalize (45 ms
// with Open MPI) and the exit, which may take seconds at most.
func (b *Backend) alone() int {
	b.Front.Phase("MPI_Finalize")
	if binding.OutliveParent(10 * time.Second) {
		b.Front.Leave()
	}
	b.Lib.Finalize()
	binding.Exit(0)
	return 0 // not reached
}

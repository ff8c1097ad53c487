//go:build cgo && linux

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Messages that were never received are named with the sender's line and the receive that came nearest, in a job that was killed and in
// one that ended. Those that a receive may have taken are not.
func TestUnreceived(t *testing.T) {
	t.Parallel()
	eachStuck(t, "unreceived.c", func(s *stuck) {
		const at = `at send unreceived.c:\d+; `
		check := func(what, text, says string) {
			s.Helper()
			if lines := regexp.MustCompile(`\d+ messages? (was|had not been) [^\n]*received[^\n]*`).FindAllString(text, -1); len(lines) != 1 || !regexp.MustCompile(says).MatchString(lines[0]) {
				s.Errorf("%s: %q:\n%s", what, lines, text)
			}
		}
		queues := func(left string) string {
			p := newProcess(s.environ, s.dir, "mpitx", "report", s.run, "queues")
			p.run(hung)
			if !regexp.MustCompile(`(?m)^ +1 +MPI_COMM_WORLD +unexpected +\d+ +\d+ +` + left + ` `).MatchString(p.stdout.String()) {
				s.Errorf("LEFT is not %s:\n%s", left, p.output())
			}
			return p.stdout.String()
		}
		s.run = filepath.Join(s.dir, "hangs")
		s.job = newProcess(s.environ, s.dir, "mpitx", "trace", "-n", "2", "--dir", s.run, "--", s.program, "hang")
		if err := s.job.start(); err != nil {
			s.Fatal(err)
		}
		s.says(`\[1\] in MPI_Recv\|MPI_COMM_WORLD\|0\|6\|`)
		s.says(`\[0\] in MPI_Barrier\|`)
		s.job.kill()
		<-s.job.ended
		newProcess(s.environ, s.dir, "mpitx", "recover", s.run).run(hung)
		check("queues of a killed job", queues("1"), `^1 message had not been received when the receiver ended: rank 0 sent it to rank 1 with tag 5 on MPI_COMM_WORLD, by MPI_Send `+
			at+`rank 1 waited for tag 6 from rank 0, in MPI_Recv at receive unreceived.c:\d+$`)

		s.run = filepath.Join(s.dir, "ended")
		p := newProcess(s.environ, s.dir, "mpitx", "trace", "-n", "2", "--dir", s.run, "--", s.program, "ends")
		p.run(hung)
		says := `^1 message was never received: rank 0 sent it to rank 1 with tag 2 on MPI_COMM_WORLD, by MPI_Send ` + at
		check("trace", p.stderr.String(), says)
		check("queues", queues("1"), says)
		p = newProcess(s.environ, s.dir, "mpitx", "report", s.run, "queues", "-o", "json")
		if p.run(hung); !regexp.MustCompile(`(?s)"unreceived": \[.*"messages_lost": 1,.*"tag": 2\b`).MatchString(p.stdout.String()) {
			s.Errorf("%s", p.output())
		}

		for _, more := range [][]string{{"--", s.program, "frees"}, {"--for", "1us", "--", s.program, "ends"}} {
			p = newProcess(s.environ, s.dir, append([]string{"mpitx", "trace", "-n", "2", "--dir", filepath.Join(s.dir, "not-"+more[len(more)-1])}, more...)...)
			if p.run(hung); strings.Contains(p.stderr.String(), "received:") {
				s.Errorf("%q:\n%s", more, p.output())
			}
		}
	})
}

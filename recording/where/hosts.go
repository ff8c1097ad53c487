package where

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mpitx/text"
)

const (
	hostTime  = 15 * time.Second // for the answer of a host
	hostsOnce = 32               // connections at the same time
)

// hostName is what a name of a host must look like before it is passed to another program. It comes from the run directory.
var hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// AskHosts reads the states of the ranks of the run in dir whose memory is on other hosts, by running mpitx where there, by rsh. stack is the
// greatest number of frames. It returns why hosts did not answer.
func (job *Job) AskHosts(dir, rsh string, stack int) (problems []string) {
	var hosts []string
	for _, p := range job.Processes {
		if p.Condition == Unreachable && hostName.MatchString(p.Host) && !slices.Contains(hosts, p.Host) {
			hosts = append(hosts, p.Host)
		}
	}
	dir, err := filepath.Abs(dir)
	exe, err2 := os.Executable()
	if len(hosts) == 0 || err != nil || err2 != nil {
		return nil
	}
	answers := make([]*Job, len(hosts))
	reasons := make([]string, len(hosts))
	places := make(chan struct{}, hostsOnce)
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() {
			places <- struct{}{}
			answers[i], reasons[i] = askHost(rsh, host, fmt.Sprintf("%s where --states --stack %d %s", text.Quote(exe), stack, text.Quote(dir)))
			<-places
		})
	}
	all.Wait()
	for i, host := range hosts {
		if answers[i] == nil {
			problems = append(problems, fmt.Sprintf("%s: cannot be reached with %s: %s", host, rsh, reasons[i]))
			continue
		}
		for k, p := range job.Processes {
			of := slices.IndexFunc(answers[i].Processes, func(q *Process) bool { return q.Rank == p.Rank && q.PID == p.PID })
			if p.Host == host && of >= 0 {
				job.Processes[k] = answers[i].Processes[of]
			}
		}
	}
	return problems
}

// askHost runs a command of mpitx on a host, and returns the states that it prints, or why there are none.
func askHost(rsh, host, command string) (job *Job, reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), hostTime)
	defer cancel()
	words := append(strings.Fields(rsh), host, command)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, "no answer within " + hostTime.String()
	}
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &job)
	}
	if err == nil {
		return job, ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	if line == "" {
		line = err.Error()
	}
	return nil, line
}

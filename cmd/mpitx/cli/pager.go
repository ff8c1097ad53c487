package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mpitx/export"
)

// Paged is the annotation of commands that print long tables.
var Paged = map[string]string{"pager": "yes"}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// UsePager shows the answer of a command in the user's pager, if there is one and the command may use it.
func (a *App) UsePager(cmd *cobra.Command) { a.Std.page = a.pagerCommand(cmd) }

// pagerCommand is the command line of the user's pager; "" if the answer goes directly to standard output, because that
// is not a terminal, a launcher started this process, or the user wants no pager.
func (a *App) pagerCommand(cmd *cobra.Command) string {
	if watch := cmd.Flags().Lookup("watch"); watch != nil && watch.Changed { // a pager waits for the end
		return ""
	}
	if cmd.Annotations["pager"] == "" || a.noPager || a.Env.Launcher().Rank >= 0 || a.Env.Getenv(export.TermVariable) != "" ||
		!isTerminal(os.Stdout) || a.Env.Getenv("TERM") == "dumb" {
		return ""
	}
	command := "less"
	for _, name := range []string{"PAGER", "MPITX_PAGER"} {
		if text, ok := os.LookupEnv(name); ok {
			command = text
		}
	}
	words := strings.Fields(command)
	if len(words) == 0 || command == "cat" {
		return ""
	}
	if _, err := exec.LookPath(words[0]); err != nil && !strings.ContainsAny(command, "\"'$`;&|<>()=") {
		return "" // the shell would not find it either, and the answer would be lost
	}
	return command
}

// pager is a process that shows what is written to it.
type pager struct {
	in   *os.File
	cmd  *exec.Cmd
	done bool // closed for writing
}

// startPager starts a pager; nil if it cannot be started.
func startPager(command string) *pager {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	p := &pager{in: w, cmd: exec.Command("sh", "-c", command)}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = r, os.Stdout, os.Stderr
	p.cmd.Env = os.Environ()
	if _, ok := os.LookupEnv("LESS"); !ok {
		p.cmd.Env = append(p.cmd.Env, "LESS=FRX") // as git does: short answers exit at once, colours are passed on, the screen is not cleared
	}
	// ^C belongs to the pager. If it ended mpitx, the shell and the pager would both read from the terminal.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	if p.cmd.Start() != nil {
		w.Close()
		return nil
	}
	return p
}

// output is the pager's input, or f without a pager.
func (p *pager) output(f *os.File) *os.File {
	if p == nil || p.done {
		return f
	}
	return p.in
}

// closePager closes the pager's input: the answer is complete.
func (s *Standard) closePager() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = ""
	if s.pager != nil && !s.pager.done {
		s.pager.done = true
		s.pager.in.Close()
	}
}

// waitPager waits until the user has left the pager.
func (s *Standard) waitPager() {
	s.closePager()
	if s.pager != nil {
		s.pager.cmd.Wait()
	}
}

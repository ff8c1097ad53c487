package qmpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mpitx/agent/agentconfig"
	"mpitx/machine"
)

// loadLimit limits the time in which tools are loaded and initialized.
var loadLimit = 10 * time.Second

// Checker loads tools in a child process.
type Checker struct {
	Env     *machine.Env
	MPI     machine.MPI // of the application
	Agent   string      // the agent for it
	Library string      // path of Library
	Shim    string      // the shim for it, if its own QMPI calls the tools; "": mpitx calls them
	Replace bool        // this process becomes the child, for a debugger

	program string // "" means this program
}

// Offer is what a library registers.
type Offer struct {
	Path  string
	Names []string
}

// Instance is an initialized tool.
type Instance struct {
	Path, Name string
	Functions  []string // that it intercepts
	Unknown    []string // numbers of functions that do not exist
	Twice      []string // functions that it registers more than once
}

// answer is what the child wrote.
type answer struct {
	offers    []Offer
	instances []*Instance // in the order of the tools
	errors    map[string]string
	at        string    // path of the library that was loaded last; "" before the first
	in        *Instance // that was initialized last; nil if a library was loaded since
	call      string    // the last function of MPI that was called while something was loaded or initialized
	lacks     bool      // the MPI library has no QMPI
	done      bool
	died      string // how the child ended, if it did not end by itself
	output    string // on standard error
}

// Try loads and initializes tools as the application will, except those that the application links, and refuses those that cannot
// be used. Tools without a name get the name of their library's only tool.
func (c *Checker) Try(tools []Tool) ([]*Instance, error) {
	a, err := c.load(tools)
	switch {
	case err != nil:
		return nil, err
	case a.lacks:
		return nil, c.without()
	}
	if err = a.judge(tools); err == nil && c.Shim != "" {
		err = a.judgeNames(tools)
	}
	if err != nil {
		return nil, err
	}
	return a.instances, nil
}

// offers loads a library, and returns what the child wrote. It fails for a library that cannot be loaded, or that
// registers no tool.
func (c *Checker) offers(t Tool) (*answer, error) {
	if !c.Replace { // a debugger shall see the initialization
		t.Name = ""
	}
	a, err := c.load([]Tool{t})
	if err != nil {
		return nil, err
	}
	if err := a.judge([]Tool{t}); err != nil && (len(a.names(t.Path)) < 2 || !a.done) {
		return nil, err
	}
	return a, nil
}

// command is the child's, which writes to a descriptor: this program, in which the agent does its work before main and exits.
func (c *Checker) command(tools []Tool, descriptor string) (words, environ []string) {
	settings := agentconfig.Line("library", c.MPI.Lib)
	for _, s := range Settings(c.Library, tools) {
		settings += agentconfig.Line(s[0], s[1])
	}
	preload := c.Agent
	if already := c.Env.Getenv("LD_PRELOAD"); already != "" {
		preload = already + ":" + preload
	}
	return []string{"version"}, []string{agentconfig.Variable + "=" + settings + agentconfig.Line("check_tools", descriptor), "LD_PRELOAD=" + preload}
}

// load runs the child.
func (c *Checker) load(tools []Tool) (*answer, error) {
	exe, err := c.program, error(nil)
	if exe == "" {
		exe, err = os.Executable()
	}
	if err != nil {
		return nil, err
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return t.Path == "" })
	command := c.command
	if c.Shim != "" {
		command = c.nativeCommand
	}
	if c.Replace {
		words, environ := command(tools, "2")
		return nil, syscall.Exec(exe, append([]string{exe}, words...), append(c.Env.FreeOfLauncher(), environ...))
	}
	words, environ := command(tools, "3")
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	ctx, cancel := context.WithTimeout(context.Background(), loadLimit)
	defer cancel()
	var output tail
	cmd := exec.CommandContext(ctx, exe, words...)
	cmd.ExtraFiles, cmd.Stderr, cmd.WaitDelay = []*os.File{to}, &output, time.Second
	cmd.Env = append(c.Env.FreeOfLauncher(), environ...)
	err = cmd.Start()
	to.Close()
	if err != nil {
		return nil, err
	}
	from.SetReadDeadline(time.Now().Add(loadLimit + time.Second)) // a process that the tool started may hold the pipe
	lines := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(from, 1<<20))
		lines <- text
		io.Copy(io.Discard, from)
	}()
	err = cmd.Wait()
	from.SetReadDeadline(time.Now().Add(time.Second))
	a := parse(string(<-lines))
	a.output = output.String()
	a.died = ended(ctx, err)
	return a, nil
}

// ended says how a child ended.
func ended(ctx context.Context, err error) string {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "it does not return within " + strconv.Itoa(int(loadLimit/time.Second)) + " s"
	case !errors.As(err, &exit):
		return "it ends the process"
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return "it crashes (" + signalName(ws.Signal()) + ")"
	}
	return fmt.Sprintf("it ends the process with exit code %d", exit.ExitCode())
}

func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT", syscall.SIGFPE: "SIGFPE", syscall.SIGILL: "SIGILL", syscall.SIGBUS: "SIGBUS", syscall.SIGKILL: "SIGKILL"}
	if name := names[s]; name != "" {
		return name
	}
	return s.String()
}

// parse reads the lines of the child; words are separated by tabs.
func parse(text string) *answer {
	a := &answer{errors: map[string]string{}}
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		word := func(k int) string {
			if k < len(words) {
				return words[k]
			}
			return ""
		}
		id, _ := strconv.Atoi(word(1))
		var instance Instance
		of := &instance // of an unknown number
		if id >= 1 && id <= len(a.instances) {
			of = a.instances[id-1]
		}
		switch words[0] {
		case "loading":
			a.at, a.in, a.call = word(1), nil, ""
			a.offers = append(a.offers, Offer{Path: a.at})
		case "registered":
			for k := range a.offers {
				if o := &a.offers[k]; o.Path == word(1) && !slices.Contains(o.Names, word(2)) {
					o.Names = append(o.Names, word(2))
				}
			}
		case "tool":
			a.in, a.call = &Instance{Name: word(2), Path: word(3)}, ""
			a.instances = append(a.instances, a.in)
		case "function":
			if slices.Contains(of.Functions, word(2)) {
				of.Twice = append(of.Twice, word(2))
				break
			}
			of.Functions = append(of.Functions, word(2))
		case "unknown":
			of.Unknown = append(of.Unknown, word(2))
		case "twice":
			of.Twice = append(of.Twice, word(2))
		case "mpi":
			a.call = word(1)
		case "error":
			a.errors[a.at] = word(1)
		case "none":
			a.lacks = true
		case "done":
			a.done = true
		}
	}
	return a
}

func (a *answer) names(path string) []string {
	for _, o := range a.offers {
		if o.Path == path {
			return o.Names
		}
	}
	return nil
}

// judge refuses what the child found.
func (a *answer) judge(tools []Tool) error {
	if why := a.errors[""]; why != "" || !a.done && a.at == "" {
		if why == "" {
			why = "mpitx does not answer"
		}
		return &machine.Error{What: "load the tools", Why: why, Do: "build the shim and the agent again with `mpitx setup`", Output: a.output}
	}
	for k := range tools {
		t := &tools[k]
		if why := a.errors[t.Path]; why != "" && t.Path != "" {
			return t.wrong("it cannot be loaded: "+strings.TrimPrefix(why, t.Path+": "), "compile it again")
		}
	}
	if !a.done {
		return a.fatal(tools)
	}
	for k := range tools {
		if t := &tools[k]; t.Path != "" {
			if err := t.among(a.names(t.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fatal is the error for the tool that did not let the child finish.
func (a *answer) fatal(tools []Tool) error {
	when, do := "while it is loaded", "debug it"
	path, name := a.at, ""
	if a.in != nil {
		path, name = a.in.Path, a.in.Name
		when = "in the initialization of " + name
	}
	if a.call != "" {
		when += ", in " + a.call
		do = "MPI is not initialized then; call it later, in a function that the tool intercepts"
	}
	for k := range tools {
		if t := &tools[k]; t.Path == path && (name == "" || t.Name == "" || t.Name == name) {
			if a.call == "" {
				do = "debug it with `MPITX_DEBUG=1 gdb -ex run --args mpitx tools " + t.String() + "`"
			}
			err := t.wrong(a.died+" "+when, do)
			err.Output = a.output
			return err
		}
	}
	return &machine.Error{What: "load the tools", Why: path + ": " + a.died + " " + when, Do: do, Output: a.output, Usage: true}
}

// among checks the name of a tool, or chooses it if there is only one.
func (t *Tool) among(names []string) error {
	list := strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		return t.wrong("it does not register a tool", "call MPI_Register_tool_name in a constructor (docs/qmpi.md)")
	case t.Name == "" && len(names) > 1:
		return t.wrong("it registers several tools: "+list, "choose one, as in "+t.From+":"+names[0])
	case t.Name == "":
		t.Name = names[0]
	case !slices.Contains(names, t.Name):
		err := t.wrong("it does not register the tool "+t.Name, "it registers "+list)
		err.Usage = false
		return err
	}
	return nil
}

// tail keeps the last lines of an output.
type tail struct{ b []byte }

const tailSize = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if n := len(t.b) - tailSize; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.b)) }

package qmpi

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"mpitx/machine"
)

// ListVariable makes MPICH's own QMPI use tools, separated by colons.
const ListVariable = "MPIR_CVAR_QMPI_TOOL_LIST"

// Native checks tools for the QMPI of the MPI library itself, in a child for each tool. The library tells nobody which tools are
// registered, so each needs a name.
func Native(e *machine.Env, m machine.MPI, tools []Tool) error {
	has, err := native(e, m, Tool{})
	if err != nil {
		return err
	}
	if has.step == "none" {
		name := strings.TrimSpace(m.Name() + " " + e.Version(m))
		why := name + " has no QMPI"
		if m.Impl == machine.MPICH {
			why = name + " was built without QMPI"
		}
		return &machine.Error{What: "--via qmpi", Why: why + " (" + m.Lib + ")", Do: "leave --via out", Usage: true}
	}
	if has.step != "done" {
		return &machine.Error{What: "--via qmpi", Why: m.Lib + ": " + has.died + " while mpitx asks it for QMPI", Do: "leave --via out", Output: has.output, Usage: true}
	}
	for k := range tools {
		t := &tools[k]
		if slices.ContainsFunc(tools[:k], func(o Tool) bool { return o.Path == t.Path && o.Name == t.Name }) || t.Path == "" {
			continue
		}
		if t.Name == "" {
			return t.wrong("the MPI library does not say which tools it registers", "add a name, as in "+t.From+":NAME")
		}
		a, err := native(e, m, *t)
		if err != nil {
			return err
		}
		refusal := t.wrong(a.died+" while it is loaded", "debug it without mpitx")
		refusal.Output = a.output
		switch a.step {
		case "done":
			continue
		case "error":
			refusal = t.wrong("it cannot be loaded: "+strings.TrimPrefix(a.text, t.Path+": "), "compile it again, with -DQMPI_NATIVE and the mpicc of "+m.Name())
		case "init":
			refusal = t.wrong("it does not register the tool "+t.Name+", or the initialization of that tool fails ("+a.died+")", "check the name and the tool")
			refusal.Output = a.output
		}
		return refusal
	}
	return nil
}

// asked is the last step that the child came to.
type asked struct{ step, text, died, output string }

// native runs `mpitx backend qmpi`, which loads the library and the tool.
func native(e *machine.Env, m machine.MPI, t Tool) (*asked, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadLimit)
	defer cancel()
	var output tail
	cmd := exec.CommandContext(ctx, exe, "backend", "qmpi", m.Lib)
	cmd.Env = slices.DeleteFunc(e.FreeOfLauncher(), func(kv string) bool { return strings.HasPrefix(kv, ListVariable+"=") })
	if t.Path != "" {
		cmd.Args = append(cmd.Args, t.Path)
		cmd.Env = append(cmd.Env, ListVariable+"="+t.Name)
	}
	cmd.Stderr, cmd.WaitDelay = &output, time.Second
	out, err := cmd.Output()
	a := &asked{output: output.String(), died: ended(ctx, err)}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	a.step, a.text, _ = strings.Cut(string(lines[len(lines)-1]), "\t")
	return a, nil
}

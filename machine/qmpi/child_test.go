//go:build linux

package qmpi

import (
	"os"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/need"
	"mpitx/machine"
)

// A tool that does not let the child finish is named, with what it did last.
func TestTry(t *testing.T) {
	need.Commands(t, "cc")
	source, err := os.ReadFile("testdata/agent.c")
	if err != nil {
		t.Fatal(err)
	}
	agent := library(t, "agent.so", string(source), "-shared").Path
	const declare = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint MPI_Register_tool_name(const char *, void (*)(int)); int MPI_Comm_rank(int, int *);\n"
	tool := func(name, load, init string) Tool {
		return library(t, name, declare+"static void init(int id) { "+init+" }\n__attribute__((constructor)) static void start(void) { "+load+" }\n", "-shared")
	}
	const add = `MPI_Register_tool_name("one", init);`
	good := tool("good", add, "(void)id;")
	defer func(limit time.Duration) { loadLimit = limit }(loadLimit)
	for _, c := range []struct {
		Tool
		want, output string
	}{
		{Tool: good},
		{Tool: tool("twice", add+`MPI_Register_tool_name("two", init);`, ""), want: "it registers several tools: one, two; choose one, as in --tool twice:one"},
		{Tool: tool("nothing", "(void)init;", ""), want: "it does not register a tool; call MPI_Register_tool_name in a constructor"},
		{Tool: tool("crashes", `fputs("oh dear\n", stderr); (void)init; abort();`, ""), want: "it crashes (SIGABRT) while it is loaded; debug it", output: "oh dear"},
		{Tool: tool("crashing", add, "*(volatile int *)8 = id;"), want: "it crashes (SIGSEGV) in the initialization of one; debug it"},
		{Tool: tool("ends", add, "exit(id + 2);"), want: "it ends the process with exit code 4 in the initialization of one"},
		{Tool: tool("calls", "int rank; (void)init; MPI_Comm_rank(0, &rank);", ""), want: "it ends the process with exit code 5 while it is loaded, in MPI_Comm_rank; MPI is not initialized then"},
		{Tool: tool("undefined", "int nowhere(void); nowhere(); (void)init;", ""), want: "it cannot be loaded: undefined symbol: nowhere"},
		{Tool: tool("hangs", add, "for (;;) pause();"), want: "it does not return within"},
	} {
		c.Tool.From = "--tool " + strings.TrimPrefix(c.Tool.From, "--tool ")
		if c.want == "it does not return within" {
			loadLimit = 300 * time.Millisecond
		}
		check := Checker{Env: &machine.Env{Environ: os.Environ()}, Agent: agent, program: "/bin/true"}
		tools := []Tool{good, c.Tool, {From: "--tool inside", Name: "inside"}}
		_, err := check.Try(tools)
		if c.want == "" {
			if err != nil || tools[1].Name != "one" {
				t.Errorf("%v %+v", err, tools)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.From+": "+c.want) {
			t.Errorf("%s: %v, want %s", c.From, err, c.want)
			continue
		}
		if l, ok := err.(*machine.Error); !ok || !l.Usage || !strings.Contains(l.Output, c.output) {
			t.Errorf("%s: %#v", c.From, err)
		}
	}
}

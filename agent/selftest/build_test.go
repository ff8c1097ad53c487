package selftest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/agent/agenttest"
)

// An agent compiled without optimisation counts the same, as the wrappers that must jump are in assembler.
func TestUnoptimised(t *testing.T) {
	t.Setenv("CFLAGS", "-O0")
	onEach(t, func(t *testing.T, f *family) {
		agent, err := agenttest.Build("mpicc."+f.name, "log_tool", agentSources...)
		if err != nil {
			t.Fatal(err)
		}
		plain := &family{name: f.name, agent: agent, library: f.library, oversub: f.oversub}
		everyCallOfC(t, plain)
		tailCalls(t, plain)
		pcontrol(t, plain)
	})
}

// check.sh refuses broken agents.
func TestCheck(t *testing.T) {
	const wrapper = `__asm__(".text\n.p2align 4\n.globl MPI_Send\n.type MPI_Send, @function\nMPI_Send: jmp *ways(%rip)\n.size MPI_Send, . - MPI_Send\n");
static __attribute__((used)) int record_MPI_Send(int a) { return a; }
__attribute__((visibility("hidden"))) void *ways = record_MPI_Send;
`
	for name, c := range map[string]struct{ text, want string }{
		"right":   {wrapper, ""},
		"more":    {wrapper + "int other;", "exports other"},
		"missing": {wrapper + "static __attribute__((used)) int record_PMPI_Send(int a) { return a; }", "PMPI_Send is not exported"},
		"calls":   {wrapper + "int (*next)(int); int MPI_Recv(int a) { return a + next(a + 1) + next(a + 2); }", "MPI_Recv is not a stub that jumps"},
		"useless": {strings.ReplaceAll(wrapper, "record_MPI_Send", "record_MPI_Recv"), "is not exported"},
		"nothing": {"", "exports no MPI functions"},
	} {
		t.Run(name, func(t *testing.T) {
			source, library := filepath.Join(t.TempDir(), "agent.c"), filepath.Join(t.TempDir(), "agent.so")
			text := strings.Replace(c.text, "int (*next)", `__attribute__((visibility("hidden"))) int (*next)`, 1)
			if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cc(t, library, "-shared", "-fPIC", source)
			output, err := exec.Command("sh", "../check.sh", library).CombinedOutput()
			if (err == nil) != (c.want == "") || !strings.Contains(string(output), c.want) {
				t.Errorf("%v: %s, want %q", err, output, c.want)
			}
		})
	}
}

// There may be many observers. Each one is called for every call, completion and thread end.
func TestManyObservers(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		log := filepath.Join(t.TempDir(), "log")
		f.run(t, job{ranks: 1, env: []string{"MANY_OBSERVERS=" + log}}, f.compile(t, "mpicc", "plain.c")).want(t, map[string]string{"MPI_Send": "3"})
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		// The last one observes only MPI_Send.
		want := strings.Repeat("entered 21 left 21 completed 6\n", 39) + "entered 3 left 3 completed 0\n"
		if string(text) != want {
			t.Errorf("%s, want\n%s", text, want)
		}
	})
}

package selftest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// nodeProgram compiles ../test/node.c.
func nodeProgram(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "node")
	sources, _ := filepath.Glob("../node/*.c")
	sources = append(sources, "../base/file.c")
	if out, err := exec.Command("cc", append([]string{"-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-I..", "-I../..", "-o", program, "../test/node.c"}, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// tree is a recorded /proc and /sys, and a process that reads it.
type tree struct {
	t    *testing.T
	root string
	in   io.Writer
	out  *bufio.Scanner
}

func newTree(t *testing.T) *tree {
	t.Helper()
	n := &tree{t: t, root: t.TempDir()}
	return n
}

// read returns the variables and their values, after the process has read again. A line is "NAME VALUE STATUS HAS-REASON".
func (n *tree) read() map[string]string {
	n.t.Helper()
	if n.in == nil {
		cmd := exec.Command(nodeProgram(n.t), n.root)
		in, err := cmd.StdinPipe()
		if err != nil {
			n.t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			n.t.Fatal(err)
		}
		n.t.Cleanup(func() {
			in.Close()
			if err := cmd.Wait(); err != nil {
				n.t.Error(err)
			}
		})
		n.in, n.out = in, bufio.NewScanner(out)
	}
	fmt.Fprintln(n.in)
	values := map[string]string{}
	for n.out.Scan() && n.out.Text() != "." {
		name, value, _ := strings.Cut(n.out.Text(), " ")
		values[name] = value
	}
	return values
}

// dev writes /proc/net/dev: a name, and the bytes that it has received, which are a tenth of all other counters but the packets.
func (n *tree) dev(interfaces ...any) {
	text := "Inter-|   Receive                                                |  Transmit\n" +
		" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
	for i := 0; i < len(interfaces); i += 2 {
		text += fmt.Sprintf("%6s: %v 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n", interfaces[i], interfaces[i+1])
	}
	n.write("proc/net/dev", text)
}

func (n *tree) write(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n *tree) want(when string, want map[string]string) {
	n.t.Helper()
	values := n.read()
	for name, value := range want {
		if values[name] != value {
			n.t.Errorf("%s: %s: %q, not %q", when, name, values[name], value)
		}
	}
}

const (
	valueOK    = " 0 0"
	valueReset = " 1 0"
	valueError = "2 1" // after the value, which does not count
	valueGone  = "3 1"
)

// Counters of interfaces that wrap, restart, go away and come back.
func TestNodeInterfaces(t *testing.T) {
	const bytes = "eth0/bytes_received"
	n := newTree(t)
	n.dev("eth0", 100)
	n.want("first", map[string]string{bytes: "100" + valueOK, "eth0/packets_received": "2" + valueOK, "eth0/errors_received": "3" + valueOK, "eth0/drops_received": "4" + valueOK,
		"eth0/bytes_sent": "5" + valueOK, "eth0/packets_sent": "6" + valueOK, "eth0/errors_sent": "7" + valueOK, "eth0/drops_sent": "8" + valueOK})
	n.dev("eth0", uint64(4294967290))
	n.want("near 32 bits", map[string]string{bytes: "4294967290" + valueOK})
	n.dev("eth0", 4)
	n.want("wrapped", map[string]string{bytes: "4294967300" + valueOK})
	n.dev("eth0", 3)
	n.want("started again", map[string]string{bytes: "3" + valueReset, "eth0/bytes_sent": "5" + valueOK})
	n.dev("eth0", 30)
	n.want("after it", map[string]string{bytes: "30" + valueOK})
	n.dev("eth0", uint64(2_500_000_000))
	n.dev("eth0", 30)
	n.want("fallen from the middle", map[string]string{bytes: "30" + valueOK})
	n.dev("eth0", uint64(1)<<40)
	n.want("64 bits", map[string]string{bytes: fmt.Sprint(uint64(1)<<40) + valueOK})
	n.dev("eth0", uint64(4294967290))
	n.want("started again", map[string]string{bytes: "4294967290" + valueReset})
	n.dev("eth0", 4)
	n.want("a counter of 64 bits does not wrap at 32", map[string]string{bytes: "4" + valueReset})

	n.dev("eth0", 5, "veth1", 7)
	n.want("another one", map[string]string{bytes: "5" + valueOK, "veth1/bytes_received": "7" + valueOK})
	n.dev("veth1", 8)
	n.want("gone", map[string]string{bytes: "5 " + valueGone, "veth1/bytes_received": "8" + valueOK})
	n.dev("veth1", 8, "eth0", 1000)
	n.want("back, and perhaps another one", map[string]string{bytes: "1000" + valueReset, "eth0/bytes_sent": "5" + valueReset})
	n.dev("veth1", 8, "eth0", 1001)
	n.want("after it", map[string]string{bytes: "1001" + valueOK})
	if err := os.Remove(filepath.Join(n.root, "proc/net/dev")); err != nil {
		t.Fatal(err)
	}
	n.want("without /proc", map[string]string{bytes: "1001 " + valueError})
	n.write("proc/net/dev", "\n:\n eth0\n eth0: 1 2 3\n eth0: a b c d e f g h i j k l m n o p\n"+strings.Repeat("x", 20000)+"\n"+" verylongnameofnointerface: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n   lo:1002 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0")
	n.want("other lines", map[string]string{bytes: "1001 " + valueGone, "lo/bytes_received": ""})
}

func TestNodeNames(t *testing.T) {
	n := newTree(t)
	n.dev("eth0.100", 1, "a:b", 2, "x@y*%", 3, "\x1b[31m\xff", 4, "br-6f+=", 5, "ü", 6)
	n.want("odd names", map[string]string{"eth0.100/bytes_received": "1" + valueOK, "a%3Ab/bytes_received": "2" + valueOK, "x%40y%2A%25/bytes_received": "3" + valueOK,
		"%1B%5B31m%FF/bytes_received": "4" + valueOK, "br-6f+=/bytes_received": "5" + valueOK, "%C3%BC/bytes_received": "6" + valueOK})
}

// More interfaces than there is room for are left out, and that is said; the first ones go on.
func TestNodeTooMany(t *testing.T) {
	n := newTree(t)
	var all []any
	for i := range 300 {
		all = append(all, fmt.Sprint("veth", i), i)
	}
	n.dev(all...)
	values := n.read()
	if values["veth63/bytes_received"] != "63"+valueOK || values["veth64/bytes_received"] != "" || !strings.Contains(values["!"], "more than 64 network interfaces") {
		t.Errorf("%q %q %q", values["veth63/bytes_received"], values["veth64/bytes_received"], values["!"])
	}
}

// The tree of a node with two cards: a ConnectX card, whose second port has fewer counters, and one without counters.
func TestNodeInfiniBand(t *testing.T) {
	n := newTree(t)
	if out, err := exec.Command("cp", "-r", "testdata/infiniband/sys", n.root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const port = "sys/class/infiniband/mlx5_0/ports/1/counters/"
	n.want("recorded", map[string]string{"ib/mlx5_0/1/bytes_received": fmt.Sprint(4*uint64(1742339814027)) + valueOK, "ib/mlx5_0/1/bytes_sent": fmt.Sprint(4*uint64(1739218847713)) + valueOK,
		"ib/mlx5_0/1/packets_received": "4218859204" + valueOK, "ib/mlx5_0/1/symbol_errors": "17" + valueOK, "ib/mlx5_0/1/link_downed": "1" + valueOK, "ib/mlx5_0/1/waits": "901277" + valueOK,
		"ib/mlx5_0/2/bytes_sent": "0" + valueOK, "ib/mlx5_0/2/waits": "", "ib/hfi1_0/1/bytes_sent": ""})
	n.write(port+"port_xmit_data", "1739218847723\n")
	n.write(port+"link_downed", "255\n")
	n.write(port+"symbol_error", "65535\n")
	n.write(port+"port_rcv_errors", "0\n")
	n.want("later", map[string]string{"ib/mlx5_0/1/bytes_sent": fmt.Sprint(4*uint64(1739218847723)) + valueOK, "ib/mlx5_0/1/link_downed": "255 " + valueError,
		"ib/mlx5_0/1/symbol_errors": "65535 " + valueError, "ib/mlx5_0/1/errors_received": "0" + valueReset})
	n.write(port+"link_downed", "0\n")
	n.want("cleared", map[string]string{"ib/mlx5_0/1/link_downed": "0" + valueReset})
	if err := os.RemoveAll(filepath.Join(n.root, "sys")); err != nil {
		t.Fatal(err)
	}
	n.want("removed", map[string]string{"ib/mlx5_0/1/link_downed": "0 " + valueGone})
}

func TestNodeProcess(t *testing.T) {
	for _, what := range []string{"sockets", "pace"} {
		if out, err := exec.Command("sh", "-c", `ulimit -n 4096; exec "$0" "$1"`, nodeProgram(t), what).CombinedOutput(); err != nil || string(out) != "done\n" {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}

// The time of one reading of all variables of the node, with this machine's interfaces and a pair of sockets, and its parts: memory and page
// faults, migrations, sockets, interfaces. The agent reads for at most one in a hundred parts of the time.
func BenchmarkNode(b *testing.B) {
	program := nodeProgram(b)
	for b.Loop() {
		out, err := exec.Command(program, "cost", "20000").Output()
		var parts [5]float64
		if n, _ := fmt.Sscan(string(out), &parts[0], &parts[1], &parts[2], &parts[3], &parts[4]); err != nil || n != 5 {
			b.Fatalf("%v: %s", err, out)
		}
		for i, name := range []string{"ns-memory-and-faults", "ns-migrations", "ns-sockets", "ns-interfaces", "ns-all"} {
			b.ReportMetric(parts[i], name)
		}
		b.ReportMetric(0, "ns/op")
	}
}

// The file of the agent and the table of package virtual have the same numbers of variables.
func TestNodeNumbers(t *testing.T) {
	header, err := os.ReadFile("../node/node.h")
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadFile("../node/names.h")
	if err != nil {
		t.Fatal(err)
	}
	for kind, constant := range map[string]string{"INTERFACE": "NODE_OF_INTERFACE", "PORT": "NODE_OF_PORT"} {
		n := len(regexp.MustCompile(`(?m)^`+kind+`\(`).FindAll(names, -1))
		if !strings.Contains(string(header), fmt.Sprintf("%s = %d", constant, n)) {
			t.Errorf("%s is not %d", constant, n)
		}
	}
}

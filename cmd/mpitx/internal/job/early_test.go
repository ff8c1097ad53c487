//go:build cgo && linux

package job

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// This binary in the place of mpitx: early.c has looked at its command line before Go started.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "list", "export":
		c := earlyChild()
		if c == nil {
			fmt.Println("none")
			os.Exit(0)
		}
		fmt.Fprintln(c.out, "request")
		line, err := bufio.NewReader(c.in).ReadString('\n')
		fmt.Print(line)
		fmt.Println(err, c.stage, earlyChild() == nil)
		os.Exit(0) // its end of the pipe goes with us
	case "backend":
		fd, _ := strconv.Atoi(os.Args[3])
		in := bufio.NewReader(os.Stdin)
		line, _ := in.ReadString('\n')
		fmt.Fprintln(os.NewFile(uintptr(fd), "front"), os.Args[1:3], os.Getenv("GOMAXPROCS"), strings.TrimSpace(line))
		io.Copy(io.Discard, in)
		fmt.Println("its noise goes to standard error")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestEarly(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const used = "[backend after] 1 request\n<nil> after true\n"
	for _, c := range []struct{ command, want string }{
		{`"$0" list -o json`, used},
		{`"$0" list --fields name 3>&1`, used},
		{`"$0" export`, "none\n"},
		{`"$0" list -n 4`, "none\n"},
		{`"$0" list -n4`, "none\n"},
		{`"$0" list --from snapshot.json`, "none\n"},
		{`"$0" list --help`, "none\n"},
		{`"$0" list <&-`, "none\n"},
		{`"$0" list 2>&-`, "none\n"},
		{`cp "$0" "$1" && exec 9<"$1" && rm "$1" && /proc/self/fd/9 list`, "none\n"}, // what is to be started is gone
	} {
		out, err := exec.Command("sh", "-c", c.command, exe, filepath.Join(t.TempDir(), "copy")).Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %q %v", c.command, out, err)
		}
	}
}

package tune

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Each run reads a file that is the standard input from its beginning. A pipe is not read, and the error says so.
func TestInput(t *testing.T) {
	own := os.Stdin
	defer func() { os.Stdin = own }()
	c := &campaigning{options: &options{}}
	c.dir = t.TempDir()
	read := func() string {
		cmd := exec.Command("cat")
		defer c.giveInput(cmd)()
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("50\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	os.Stdin = r // it never ends
	if err := c.keepInput(); err != nil || read() != "" || unread() == "" {
		t.Errorf("a pipe: %v", err)
	}
	if os.Stdin, err = os.Open(file); err != nil {
		t.Fatal(err)
	}
	defer os.Stdin.Close()
	if err := c.keepInput(); err != nil || read() != "50\n" || read() != "50\n" || unread() != "" {
		t.Errorf("a file: %v", err)
	}
	if err := os.Truncate(file, mostInput+1); err != nil {
		t.Fatal(err)
	}
	if err := c.keepInput(); err == nil {
		t.Error("a file that is too large is read")
	}
}

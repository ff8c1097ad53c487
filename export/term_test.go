package export

import (
	"os"
	"testing"
)

func TestDetect(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type env map[string]string
	for _, c := range []struct {
		name string
		env  env
		flag string
		want Terminal
	}{
		{"file", env{"LANG": "en_US.UTF-8", "TERM": "xterm", "COLUMNS": "60"}, "", Terminal{UTF8: true}},
		{"LC_ALL before LANG", env{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, "auto", Terminal{}},
		{"utf8 without dash", env{"LC_CTYPE": "de_DE.utf8"}, "auto", Terminal{UTF8: true}},
		{"always", env{"NO_COLOR": "1"}, "always", Terminal{Color: true}},
		{"forced", env{"CLICOLOR_FORCE": "1"}, "auto", Terminal{Color: true}},
		{"forced 0", env{"CLICOLOR_FORCE": "0"}, "auto", Terminal{}},
		{"NO_COLOR before forced", env{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, "auto", Terminal{}},
		{"passed", env{TermVariable: "width=120,color=1,utf8=1,tty=1"}, "auto", Terminal{Width: 120, IsTTY: true, Color: true, UTF8: true}},
		{"passed, never", env{TermVariable: "width=120,color=1,utf8=1,tty=1"}, "never", Terminal{Width: 120, IsTTY: true, Color: false, UTF8: true}},
		{"passed without width", env{TermVariable: "tty=1", "COLUMNS": "40"}, "auto", Terminal{Width: 40, IsTTY: true}},
		{"passed a pipe", env{TermVariable: "width=0,color=0,utf8=0,tty=0", "LANG": "C.UTF-8"}, "auto", Terminal{}},
		{"malformed", env{TermVariable: "width=x,tty=maybe,,=,color"}, "auto", Terminal{}},
		{"malformed width", env{TermVariable: "width=-3,tty=1"}, "auto", Terminal{Width: 80, IsTTY: true}},
		{"color terminal", env{TermVariable: "tty=1", "TERM": "xterm"}, "auto", Terminal{Width: 80, IsTTY: true, Color: true}},
		{"dumb terminal", env{TermVariable: "tty=1", "TERM": "dumb"}, "auto", Terminal{Width: 80, IsTTY: true}},
	} {
		got, err := Detect(file, func(k string) string { return c.env[k] }, c.flag)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "color terminal" || c.name == "dumb terminal" {
			got.UTF8 = false
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		back, err := Detect(nil, func(k string) string { return map[string]string{TermVariable: got.Pass()}[k] }, "auto")
		if err != nil || back != got {
			t.Errorf("%s: passed on as %q gives %+v, %v", c.name, got.Pass(), back, err)
		}
	}
	if _, err := Detect(file, func(string) string { return "" }, "sometimes"); err == nil {
		t.Error("--color sometimes is no error")
	}
}

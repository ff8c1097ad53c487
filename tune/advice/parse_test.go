package advice

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/machine"
)

const goodRule = "openmpi more room\n\tif messages 5 %\n\tsay Messages took {share}\n\ttry btl_sm_eager_limit = *4\n\twrong never\n\tfrom a book\n"

// An error of a file of rules names its line, and leaves the rules before it.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"openmpi":                                              `f:7: a rule starts with FAMILY NAME`,
		"lam old rule":                                         `f:7: "lam" is not a family of MPI libraries; use `,
		"openmpi x\n\tif nothing at all":                       `f:8: "nothing at all" is no fact; use collective, `,
		"openmpi x\n\tif messages 500 %":                       `f:8: "500" is not a percentage`,
		"openmpi x\n\tif messages x %":                         `f:8: "x" is not a percentage`,
		"openmpi x\n\ttry btl":                                 `f:8: "btl": must be NAME = VALUES`,
		"openmpi x\n\ttry a = 1 with b":                        `f:8: "b": must be NAME=VALUES`,
		"openmpi x\n\ttry a = 1||2":                            `f:8: "a = 1||2": a value is empty`,
		"openmpi x\n\n\t# ok\n\tperhaps so":                    `f:10: "perhaps" is not a line of a rule; use if, say, try, look, wrong or from`,
		"openmpi x\n\tsay":                                     `f:8: say needs more words`,
		"openmpi x\n\tif messages":                             `f:7: the rule "x" has no source`,
		"openmpi x\n\tfrom y":                                  `f:7: the rule "x" has no condition`,
		"openmpi x\n\tfrom y\n\tif messages":                   `f:7: the rule "x" says nothing`,
		"mpich x\n\tfrom y\n\tif messages\n\tsay z":            `f:7: the rule "x" proposes nothing`,
		"mpich x\n\tfrom y\n\tif messages\n\tsay z\n\tlook at": `f:7: the rule "x" does not say when it is wrong`,
	} {
		rules, err := ParseRules("f", goodRule+text)
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(rules) != 1 || rules[0].Name != "more room" {
			t.Errorf("%q: %d rules, %v; want %s", text, len(rules), err, want)
		}
	}
	if rules, err := ParseRules("f", "\tif messages"); err == nil || err.Error() != "f:1: a line FAMILY NAME must come first" || len(rules) != 0 {
		t.Errorf("%v", err)
	}
}

// Rules of the user's are added; those from the first wrong line on are left out, and the line is named.
func TestReadRules(t *testing.T) {
	dir := t.TempDir()
	env := &machine.Env{Environ: []string{"XDG_CONFIG_HOME=" + dir}}
	if rules, problems := ReadRules(env); len(rules) != len(OwnRules()) || len(problems) != 0 {
		t.Fatalf("%d rules, %v", len(rules), problems)
	}
	file := filepath.Join(dir, "mpitx", "advice.txt")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(goodRule+"openmpi x\n\tif so\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	rules, problems := ReadRules(env)
	if len(rules) != len(OwnRules())+1 || rules[len(rules)-1].Name != "more room" {
		t.Errorf("%d rules", len(rules))
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), file+":8: ") || !strings.HasSuffix(problems[0].Error(), "; the rest of the file is ignored") {
		t.Errorf("%v", problems)
	}
}

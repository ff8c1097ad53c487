package condition

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	n := func(hex string) string { return "n" + hex + strings.Repeat("0", 16-len(hex)) }
	for text, want := range map[string]string{
		"bytes > 5":                        "bytes " + n("4014") + " gt",
		"5<=sent":                          n("4014") + " sent le",
		"bytes>=64k":                       "bytes " + n("40f") + " ge",
		"bytes > 1.5MiB":                   "bytes " + n("4138") + " gt",
		"time > 10ms":                      "time " + n("416312d") + " gt",
		"a_b == -1":                        "v0:sum " + n("bff") + " eq",
		"max(x) > 2 or min(x) < 1e3":       "v0:max " + n("4") + " gt unless:4 v0:min " + n("408f4") + " lt or",
		"x@world[3] > 1 AND peer != 2":     "v0:3 " + n("3ff") + " gt if:4 peer " + n("4") + " ne and",
		"delta(a:timer) > 1s":              "v0:delta:ns " + n("41cdcd65") + " gt",
		"not (tag == 1 && root == 2)":      "tag " + n("3ff") + " eq if:4 root " + n("4") + " eq and not",
		"!comm == solver":                  "comm:0 not",
		"comm != world":                    "comm:world not",
		"self == comm":                     "comm:self",
		"comm == 'MPI_COMM_WORLD'":         "comm:world",
		`function == "MPI_I*"`:             "function:0",
		"function == MPI_*send":            "function:0",
		"rate(mpitx:bytes_sent) > 1G":      "v0:rate " + n("41d") + " gt",
		"mpitx:calls/MPI_Send >= peer":     "v0:sum peer ge",
		"'odd name' > 1":                   "v0:sum " + n("3ff") + " gt",
		"a > 1 or b > 2 and a > 3":         "v0:sum " + n("3ff") + " gt unless:9 v1:sum " + n("4") + " gt if:4 v0:sum " + n("4008") + " gt and or",
		"((peer == 1))":                    "peer " + n("3ff") + " eq",
		"  bytes \n\t> 5 ":                 "bytes " + n("4014") + " gt",
		"x@comm > received and y@self > 0": "v0:sum received gt if:4 v1:sum " + n("") + " gt and",
	} {
		c, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := strings.Join(c.words, " "); got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
	c, _ := Parse("x@comm > 1 and delta(x) > 2 or y:counter@world[2] > 3 and comm == solver")
	if !slices.Equal(c.Values, []string{"x@comm", "delta(x)", "y:counter@world[2]"}) || c.AtReturn || len(c.Variables) != 3 || c.Variables[0].Pattern() != "x@all" || c.Variables[2].Pattern() != "y:counter@world" {
		t.Errorf("%+v", c)
	}
	for text, late := range map[string]bool{"bytes > 1": true, "received > 1": true, "time > 1s": true, "sent > 1 and x > 5": false} {
		if c, _ := Parse(text); c.AtReturn != late {
			t.Errorf("%s: checked at return: %v", text, c.AtReturn)
		}
	}
	trigger := Trigger{c, []string{"MPI_Recv", "MPI_I*"}, Actions{Backtrace: true, Stop: 19}}
	for _, line := range []string{"on MPI_Recv,MPI_I*\n", "name solver\n", "then backtrace\nthen event\nthen stop=19\n", "variable x\n", "value delta(x)\n", "\ncode v0:sum "} {
		if !strings.Contains(trigger.Configuration(), line) {
			t.Errorf("%q is missing in:\n%s", line, trigger.Configuration())
		}
	}
}

// Each mistake is reported with its column and what to write instead.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "the condition is empty; compare something, such as bytes > 64k (column 1)",
		"bytes >":                            "a number or a name is missing before the end (column 8)",
		"bytes > > 5":                        "a number or a name is missing before > (column 9)",
		"bytes = 5":                          "= is not an operator; use == (column 7)",
		"bytes":                              "a comparison is missing after bytes; use < <= > >= == != (column 6)",
		"bytes ~ 5":                          "~ is not an operator; use < <= > >= == !=, and, or, not (column 7)",
		"bytes > 5 5":                        "5 does not belong here; join comparisons with and, or (column 11)",
		"(bytes > 5":                         "the parenthesis is not closed (column 1)",
		"bytes > 5)":                         ") does not belong here; join comparisons with and, or (column 10)",
		"1 < bytes < 5":                      "only two operands can be compared; write a < b and b < c (column 11)",
		"1 < 2":                              "both sides are numbers; compare with an argument of the call or a variable (column 3)",
		"bytes > 5x":                         "unknown unit x; use k, M, G, T for sizes, or ns, us, ms, s for times (column 9)",
		"bytes > 5m":                         "unknown unit m; use k, M, G, T for sizes, or ns, us, ms, s for times (column 9)",
		"bytes > 1.2.3":                      "1.2.3 is not a number (column 9)",
		"bytes > 0x10":                       "0x10 is not a number (column 9)",
		"comm > 5":                           "comm is compared with == or != (column 6)",
		"comm == 5":                          "comm is compared with world, self or its name (column 9)",
		"function == peer":                   "function is compared with MPI_Recv (column 13)",
		"maxi(x) > 5":                        "unknown function maxi; use sum, max, min, delta, rate; did you mean max? (column 1)",
		"max(5) > 5":                         "max() needs the name of a variable (column 5)",
		"max(x > 5":                          "the parenthesis is not closed (column 4)",
		"x@all > 5":                          "x@all: unknown object after @; use world, self or comm (the call's communicator) (column 1)",
		"delta(x@comm) > 5":                  "delta: calls have different communicators; use @world or @self (column 7)",
		"x[a] > 5":                           "x[a]: an element is a number in brackets at the end, such as NAME[3] (column 1)",
		"x[3 > 5":                            "x[3 > 5: an element is a number in brackets at the end, such as NAME[3] (column 1)",
		"max(x[3]) > 5":                      "x[3]: an element is a number in brackets at the end, such as NAME[3] (column 5)",
		"pml_* > 5":                          `"pml_*" is a text; only comm and function are compared with texts (column 1)`,
		"comm == 'solver":                    "the quotation mark is not closed (column 9)",
		"peer == 1 and":                      "a number or a name is missing before the end (column 14)",
		"and > 5":                            "a number or a name is missing before and (column 1)",
		"größe > 5 and peer = 1":             "= is not an operator; use == (column 20)",
		"x > \x01":                           "it has characters that cannot be displayed (column 1)",
		strings.Repeat("x>1 or ", 9) + "x>1": "the condition is too long; use several --when (column 1)",
		strings.Repeat("(", 70) + "x>1":      "too many parentheses (column 65)",
		strings.Repeat("x", 500) + ">1":      "it has more than 400 characters (column 400)",
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestActions(t *testing.T) {
	for text, want := range map[string]string{
		"count": "", "backtrace": "backtrace event", "backtrace,count": "backtrace event", "sample": "event sample", "count,sample": "sample",
		"pcontrol=0, stop=stop": "event pcontrol=0 stop=19", "stop=SIGABRT": "event stop=6",
	} {
		a, err := ParseActions(text)
		if got := strings.Join(a.words(), " "); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":            `"": unknown action; use backtrace, count, sample, pcontrol=LEVEL, stop=SIGNAL`,
		"cuont":       `"cuont": unknown action; use backtrace, count, sample, pcontrol=LEVEL, stop=SIGNAL; did you mean count?`,
		"stop":        "stop: the value is missing; use pcontrol=LEVEL or stop=SIGNAL",
		"stop=SIGSTP": "stop=SIGSTP: unknown signal; did you mean SIGSTOP, SIGTSTP, SIGHUP?; use a name such as SIGSTOP or SIGABRT",
		"pcontrol=x":  "pcontrol=x: the level is a number from 0 to 999, such as pcontrol=0",
		"count=3":     `"count=3": unknown action; use backtrace, count, sample, pcontrol=LEVEL, stop=SIGNAL`,
	} {
		if _, err := ParseActions(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Whatever the text: an error has a column in it, and a program fits the agent's limits.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"bytes > 5", "not (a@comm[3] >= 1e3k or comm != 'x') and delta(b:timer) < 10ms", "function == MPI_I* && !root==0", "x[ > 1", "'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		var e *Error
		switch {
		case errors.As(err, &e):
			if e.Column < 1 || e.Column > utf8.RuneCountInString(e.Text)+maxText+1 || e.What == "" {
				t.Errorf("%q: %+v", text, e)
			}
		case err != nil || len(c.words) == 0 || len(c.words) > maxWords || depth(c.words) > maxStack || len(c.Values) > maxLoads || len(c.names) > maxNames || len(c.functions) >= maxNames:
			t.Errorf("%q: %v %+v", text, err, c)
		default:
			again, err := Parse(c.Text)
			if err != nil || !slices.Equal(again.words, c.words) {
				t.Errorf("%q: %q is another condition: %v", text, c.Text, err)
			}
			for line := range strings.Lines((&Trigger{Condition: c}).Configuration()) {
				if word, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); word == "" || value == "" {
					t.Errorf("%q: a line %q", text, line)
				}
			}
		}
	})
}

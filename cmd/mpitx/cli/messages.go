package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/text"
)

// Exit codes; docs/reference.md and the manual pages describe them.
const (
	ExitDone    = 0
	ExitFailed  = 1 // also if nothing that was named exists
	ExitUsage   = 2
	ExitPartial = 3 // a named variable could not be read, a write was refused, ranks were lost
)

// ExitError is a failure with its exit code, and perhaps a message.
type ExitError struct {
	Code int
	Text string
	Err  error // may raise the code; nil if there is none
}

func (e *ExitError) Error() string { return e.Text }

func (e *ExitError) Unwrap() error { return e.Err }

// Exit ends a command without a message. It is nil for ExitDone.
func Exit(code int) error { return Ended(code, nil) }

// Ended ends a command with a code, which an error may raise. It is nil if neither says that something failed.
func Ended(code int, err error) error {
	if code == ExitDone && err == nil {
		return nil
	}
	return &ExitError{Code: code, Err: err}
}

// ErrFollower ends a command successfully in a process that does not print the answer, because another one does.
var ErrFollower = errors.New("another process prints the answer")

func Failf(format string, args ...any) error {
	return &ExitError{Code: ExitFailed, Text: fmt.Sprintf(format, args...)}
}

func Usagef(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Text: fmt.Sprintf(format, args...)}
}

// End is the end of every command: it writes the rest of the answer, prints the error, and returns the exit code, which
// it gives to Last. launched is true under a launcher.
func (a *App) End(err error, launched bool) int {
	lost := a.flush()
	var code int
	if launched {
		code = a.exitJob(err)
	} else {
		code = a.Exit(err)
	}
	if lost != nil && !errors.Is(err, lost) {
		code = max(code, a.Exit(lost))
	}
	a.Std.closePager()
	defer a.Std.waitPager()
	if a.Last != nil {
		code = a.Last(code)
	} else if launched && code == ExitUsage {
		launch.EndJob(a.Env, code)
	}
	return code
}

// exitJob is exit, where one of the ranks that have the same error prints it. It returns after that, because a launcher ends the job at
// the first exit code other than 0.
func (a *App) exitJob(err error) (code int) {
	var text bytes.Buffer
	errs := a.Errs
	a.Errs = &text
	code = a.Exit(err)
	a.Errs = errs
	if text.Len() > 0 {
		launch.Jobwide(a.Env).Say(text.String(), func() { a.Errs.Write(text.Bytes()) })
	}
	return code
}

// Exit prints an error and returns its code.
func (a *App) Exit(err error) int {
	var own *ExitError
	var located *machine.Error
	var collected *inspect.Error
	switch {
	case err == nil, errors.Is(err, ErrFollower):
		return ExitDone
	case errors.As(err, &own):
		if own.Text != "" {
			a.Complain("%s", own.Text)
		}
		return max(own.Code, a.Exit(own.Err))
	case errors.Is(err, syscall.EPIPE):
		return ExitDone // the reader closed the pipe
	case errors.As(err, &located):
		a.Complain("%s", located)
		if located.Output != "" {
			fmt.Fprintln(a.Errs, export.Terminal{UTF8: true}.SafeText(located.Output))
		}
		if located.Usage {
			return ExitUsage
		}
		return ExitFailed
	case errors.As(err, &collected):
		if collected.Quiet {
			return ExitDone // rank 0 prints the error, and a launcher would end the job, with rank 0, at the first exit code other than 0
		}
		a.Complain("%s", collected.Text)
		return ExitFailed
	case isUsage(err):
		a.Complain("%s", a.wrongCommand(err.Error()))
		return ExitUsage
	}
	a.Complain("%v", err)
	return ExitFailed
}

// isUsage recognizes cobra's errors about wrong commands and flag combinations, which have no type.
func isUsage(err error) bool {
	for _, s := range []string{"unknown command", "if any flags in the group"} {
		if strings.HasPrefix(err.Error(), s) {
			return true
		}
	}
	return false
}

var unknownCommand = regexp.MustCompile(`(?s)^unknown command (".*") for "mpitx ?(.*)"$`)

// movedFlags are flags that other or earlier commands have, and what does the same.
var movedFlags = map[string]string{"top --once": "mpitx report RUN samples, functions or matrix", "run --pvar": "--sample GLOB", "profile --function": "--include GLOB", "trace --include": "--function GLOB"}

// moved are commands of earlier versions, and what does the same.
var moved = map[string]string{"matrix": "report RUN matrix", "queues": "report RUN queues", "waits": "report RUN waits", "paths": "report RUN paths", "stats": "report RUN samples", "env": "list settings"}

// wrongCommand rewrites such an error in mpitx's words.
func (a *App) wrongCommand(text string) string {
	if group, ok := strings.CutPrefix(text, "if any flags in the group ["); ok {
		flags, _, _ := strings.Cut(group, "]")
		if strings.HasPrefix(flags, "from ") {
			return "--from reads a file; leave -n and --mpi out"
		}
		return "--" + strings.ReplaceAll(flags, " ", " and --") + ": leave one out"
	}
	m := unknownCommand.FindStringSubmatch(text)
	switch {
	case m == nil:
		return text + "; see mpitx help"
	case m[2] != "":
		return m[2] + ": takes no arguments; leave " + m[1] + " out"
	}
	if now := moved[strings.Trim(m[1], `"`)]; now != "" {
		return "there is no command " + m[1] + "; use mpitx " + now
	}
	return "there is no command " + m[1] + cmp.Or(catalog.DidYouMean(a.Commands, strings.Trim(m[1], `"`)), "; see mpitx help")
}

// WrongFlag rewrites pflag's error about a command's flags in mpitx's words.
func WrongFlag(cmd *cobra.Command, err error) error {
	help := strings.TrimSpace("mpitx help" + strings.TrimPrefix(cmd.CommandPath(), "mpitx"))
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return Usagef("there is no flag -%s; see %s", unknown.GetSpecifiedName(), help)
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		name := "--" + unknown.GetSpecifiedName()
		if name == "--dir" && strings.Contains(cmd.Use, "RUN") {
			return Usagef("there is no flag --dir; name the run directory alone: %s DIRECTORY", cmd.CommandPath())
		}
		if now := movedFlags[cmd.Name()+" "+name]; now != "" {
			return Usagef("there is no flag %s; use %s", name, now)
		}
		return Usagef("there is no flag %s%s", name, cmp.Or(catalog.DidYouMean(names, name), "; see "+help))
	case errors.As(err, &bare) && bare.GetSpecifiedShortnames() != "":
		return Usagef("-%s: needs a value; see %s", bare.GetFlag().Shorthand, help)
	case errors.As(err, &bare):
		return Usagef("--%s: needs a value; see %s", bare.GetFlag().Name, help)
	case errors.As(err, &wrong):
		f := wrong.GetFlag()
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		return Usagef("%s: %q: %s; see %s", name, wrong.GetValue(), wrongValue(f.Value.Type(), wrong.GetValue(), wrong.Unwrap()), help)
	}
	return Usagef("%v; see %s", err, help)
}

// wrongValue explains why a flag's value is wrong.
func wrongValue(kind, value string, err error) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "is too large"
	case kind == "duration" && outOfRange(value):
		return "is too large"
	case kind == "duration":
		return "must be a time with its unit, such as 10ms or 5s"
	case kind == "int":
		return "must be a whole number"
	case kind == "float64":
		return "must be a number"
	case kind == "bool":
		return "must be true or false"
	}
	return err.Error()
}

// outOfRange reports whether a text would be a duration with smaller numbers.
func outOfRange(text string) bool {
	_, err := time.ParseDuration(digits.ReplaceAllString(text, "1"))
	return err == nil
}

var digits = regexp.MustCompile(`[0-9]+`)

// Complain prints a message on standard error, after the output so far.
func (a *App) Complain(format string, args ...any) {
	a.Out.Flush()
	a.Say(fmt.Sprintf(format, args...))
}

// Say prints a one-line message on standard error. Control characters are escaped, and a terminal gets it broken at
// words.
func (a *App) Say(words string) {
	width := a.MessageWidth()
	if words = text.Safe(words); width > 0 {
		words = shorten(words)
	}
	fmt.Fprintln(a.Errs, export.WrapLine("mpitx: "+words, width, "       "))
}

// WidthVariable passes the width of standard error's terminal to the processes that write into a launcher's pipe.
const WidthVariable = "MPITX_MESSAGE_WIDTH"

// MessageWidth is the width of the terminal that messages go to; 0 if they do not go to a terminal.
func (a *App) MessageWidth() int {
	if n, err := strconv.Atoi(a.Env.Getenv(WidthVariable)); err == nil {
		return n
	}
	if t, err := export.Detect(os.Stderr, a.Env.Getenv, a.Color); err == nil && isTerminal(os.Stderr) {
		return t.Width
	}
	return 0
}

// ErrTerminal is what standard error leads to. The facts that a launcher's parent passes are those of standard output.
func (a *App) ErrTerminal() (export.Terminal, error) {
	t, err := export.Detect(os.Stderr, func(name string) string {
		if name == export.TermVariable {
			return ""
		}
		return a.Env.Getenv(name)
	}, a.Color)
	t.Width = a.MessageWidth()
	t.IsTTY = t.Width > 0
	return t, err
}

// Longer words and messages are shortened on a terminal. No path or name is that long.
const longWord, longText = 600, 6000

// shorten cuts the middle out of long words and messages.
func shorten(text string) string {
	if len(text) <= longWord {
		return text
	}
	words := strings.Split(text, " ")
	for k, w := range words {
		words[k] = cutMiddle(w, longWord)
	}
	return cutMiddle(strings.Join(words, " "), longText)
}

// cutMiddle keeps the start and end of a text longer than most bytes.
func cutMiddle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most/4, len(s)-most/10
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "…(" + strconv.Itoa(tail-head) + " bytes left out)…" + s[tail:]
}

// NoVerdict gives failures exitUsage, because exitFailed is a verdict, such as a violated rule. An answer that cannot be written is a
// failure.
func (a *App) NoVerdict(err error) error {
	var own *ExitError
	if lost := a.flush(); lost != nil && !errors.Is(lost, syscall.EPIPE) && !errors.Is(err, lost) {
		if !errors.As(err, &own) {
			return &ExitError{Code: ExitUsage, Err: lost}
		}
		own.Code, own.Err = ExitUsage, lost
		return err
	}
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE), errors.Is(err, ErrFollower):
	case !errors.As(err, &own):
		return &ExitError{Code: ExitUsage, Err: err}
	case own.Code == ExitFailed && own.Text != "":
		own.Code = ExitUsage
	}
	return err
}

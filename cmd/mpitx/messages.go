package main

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

// Exit codes; docs/exit-codes.md and the manual pages describe them.
const (
	exitDone    = 0
	exitFailed  = 1 // also if nothing that was named exists
	exitUsage   = 2
	exitPartial = 3 // a named variable could not be read, a write was refused, ranks were lost
)

// exitError ends a command with a code and perhaps a message.
type exitError struct {
	code int
	text string
	err  error              // may raise the code; nil if there is none
	send func(code int) int // sends the code to the other ranks and returns the code to exit with; nil if only the parent process waits
}

func (e *exitError) Error() string { return e.text }

func (e *exitError) Unwrap() error { return e.err }

// exit ends a command without a message.
func exit(code int) error { return &exitError{code: code} }

func failf(format string, args ...any) error {
	return &exitError{code: exitFailed, text: fmt.Sprintf(format, args...)}
}

func usagef(format string, args ...any) error {
	return &exitError{code: exitUsage, text: fmt.Sprintf(format, args...)}
}

// end is the end of every command: it writes the rest of the answer, prints the error, and returns the exit code, which
// it sends once. launched is true under a launcher.
func (a *app) end(err error, launched bool) int {
	var own *exitError
	errors.As(err, &own)
	lost := a.flush()
	var code int
	if launched {
		code = a.exitJob(err)
	} else {
		code = a.exit(err)
	}
	if lost != nil && !errors.Is(err, lost) {
		code = max(code, a.exit(lost))
	}
	a.std.closePager()
	defer a.std.waitPager()
	if own != nil && own.send != nil {
		code = own.send(code)
	} else if launched && code == exitUsage {
		launch.EndJob(a.env, code)
	}
	return code
}

// exitJob is exit, where one of the ranks that have the same error prints it. It returns after that, because a launcher ends the job at
// the first exit code other than 0.
func (a *app) exitJob(err error) (code int) {
	var text bytes.Buffer
	errs := a.errs
	a.errs = &text
	code = a.exit(err)
	a.errs = errs
	if text.Len() > 0 {
		launch.Jobwide(a.env).Say(text.String(), func() { a.errs.Write(text.Bytes()) })
	}
	return code
}

// exit prints an error and returns its code.
func (a *app) exit(err error) int {
	var own *exitError
	var located *machine.Error
	var collected *inspect.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &own):
		if own.text != "" {
			a.complain("%s", own.text)
		}
		return max(own.code, a.exit(own.err))
	case errors.Is(err, syscall.EPIPE):
		return exitDone // the reader closed the pipe
	case errors.As(err, &located):
		a.complain("%s", located)
		if located.Output != "" {
			fmt.Fprintln(a.errs, export.Terminal{UTF8: true}.SafeText(located.Output))
		}
		if located.Usage {
			return exitUsage
		}
		return exitFailed
	case errors.As(err, &collected):
		if collected.Quiet {
			return exitDone // rank 0 prints the error, and a launcher would end the job, with rank 0, at the first exit code other than 0
		}
		a.complain("%s", collected.Text)
		return exitFailed
	case isUsage(err):
		a.complain("%s", a.wrongCommand(err.Error()))
		return exitUsage
	}
	a.complain("%v", err)
	return exitFailed
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

// wrongCommand rewrites such an error in mpitx's words.
func (a *app) wrongCommand(text string) string {
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
	return "there is no command " + m[1] + cmp.Or(catalog.DidYouMean(a.commands, strings.Trim(m[1], `"`)), "; see mpitx help")
}

// wrongFlag rewrites pflag's error about a command's flags in mpitx's words.
func wrongFlag(cmd *cobra.Command, err error) error {
	help := strings.TrimSpace("mpitx help" + strings.TrimPrefix(cmd.CommandPath(), "mpitx"))
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usagef("there is no flag -%s; see %s", unknown.GetSpecifiedName(), help)
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		name := "--" + unknown.GetSpecifiedName()
		if name == "--dir" && strings.Contains(cmd.Use, "RUN") {
			return usagef("there is no flag --dir; name the run directory alone: %s DIRECTORY", cmd.CommandPath())
		}
		return usagef("there is no flag %s%s", name, cmp.Or(catalog.DidYouMean(names, name), "; see "+help))
	case errors.As(err, &bare) && bare.GetSpecifiedShortnames() != "":
		return usagef("-%s: needs a value; see %s", bare.GetFlag().Shorthand, help)
	case errors.As(err, &bare):
		return usagef("--%s: needs a value; see %s", bare.GetFlag().Name, help)
	case errors.As(err, &wrong):
		f := wrong.GetFlag()
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		return usagef("%s: %q: %s; see %s", name, wrong.GetValue(), wrongValue(f.Value.Type(), wrong.GetValue(), wrong.Unwrap()), help)
	}
	return usagef("%v; see %s", err, help)
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

// complain prints a message on standard error, after the output so far.
func (a *app) complain(format string, args ...any) {
	a.out.Flush()
	a.say(fmt.Sprintf(format, args...))
}

// say prints a one-line message on standard error. Control characters are escaped, and a terminal gets it broken at
// words.
func (a *app) say(words string) {
	width := a.messageWidth()
	if words = text.Safe(words); width > 0 {
		words = shorten(words)
	}
	fmt.Fprintln(a.errs, export.WrapLine("mpitx: "+words, width, "       "))
}

// widthVariable passes the width of standard error's terminal to the processes that write into a launcher's pipe.
const widthVariable = "MPITX_MESSAGE_WIDTH"

// messageWidth is the width of the terminal that messages go to; 0 if they do not go to a terminal.
func (a *app) messageWidth() int {
	if n, err := strconv.Atoi(a.env.Getenv(widthVariable)); err == nil {
		return n
	}
	if t, err := export.Detect(os.Stderr, a.env.Getenv, a.color); err == nil && isTerminal(os.Stderr) {
		return t.Width
	}
	return 0
}

// errTerminal is what standard error leads to. The facts that a launcher's parent passes are those of standard output.
func (a *app) errTerminal() (export.Terminal, error) {
	t, err := export.Detect(os.Stderr, func(name string) string {
		if name == export.TermVariable {
			return ""
		}
		return a.env.Getenv(name)
	}, a.color)
	t.Width = a.messageWidth()
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

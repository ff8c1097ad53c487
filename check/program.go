package check

import (
	"fmt"
	"strings"
)

// Program is the C program that shows a violation with the library alone.
type Program struct {
	Rule
	Library  string
	Item     string
	Expected string
	Got      string
	File     string   // declarations and functions before main
	Lines    []string // declarations and calls, in order
	Kept     string   // a C expression that is true if the library keeps the rule; "" if it crashes or hangs before
	Ranks    int      // 0: one process, without a launcher
}

const programStart = `#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A program may use only some of the functions. */
#pragma GCC diagnostic ignored "-Wunused-function"

static const char *code(int rc)
{
    static char other[32];
#define CODE(name) if (rc == MPI_##name) return "MPI_" #name;
    CODE(SUCCESS) CODE(T_ERR_MEMORY) CODE(T_ERR_NOT_INITIALIZED) CODE(T_ERR_CANNOT_INIT) CODE(T_ERR_INVALID_INDEX)
    CODE(T_ERR_INVALID_HANDLE) CODE(T_ERR_OUT_OF_HANDLES) CODE(T_ERR_OUT_OF_SESSIONS) CODE(T_ERR_INVALID_SESSION)
    CODE(T_ERR_CVAR_SET_NOT_NOW) CODE(T_ERR_CVAR_SET_NEVER) CODE(T_ERR_PVAR_NO_STARTSTOP) CODE(T_ERR_PVAR_NO_WRITE)
    CODE(T_ERR_PVAR_NO_ATOMIC) CODE(T_ERR_INVALID_ITEM) CODE(T_ERR_INVALID_NAME) CODE(T_ERR_INVALID)
    snprintf(other, sizeof other, "error %d", rc);
    return other;
}

/* Prints a call before it is made, because the library may crash in it. */
#define CALL(rc, call) printf("%s", #call), fflush(stdout), rc = (call), printf(" returned %s\n", code(rc))

/* Print what a variable has after a call: its value, unless it is what the program had put into it. */
#define SHOW(n) (n == -42 ? printf("    %s was not set\n", #n) : printf("    %s = %d\n", #n, n))
#define SHOW_LEVEL(n) (n == -42 ? printf("    %s was not set\n", #n) : printf("    %s = %s\n", #n, \
    n == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : n == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : \
    n == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED" : n == MPI_THREAD_MULTIPLE ? "MPI_THREAD_MULTIPLE" : "unknown"))
#define SHOW_TEXT(s) (s[0] == '#' && memcmp(s, s + 1, sizeof s - 1) == 0 ? printf("    %s was not set\n", #s) : \
    printf("    %s = \"%.*s\"\n", #s, (int)sizeof s, s))

`

// String is the program's text. It exits with 1 if the violation shows, 0 if the library keeps the rule, unless it crashes or hangs.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* mpitx check: %s (%s)\n *\n", p.Name, p.Section)
	for _, line := range [][2]string{{"Promised", p.Promise}, {"Library", p.Library}, {"Item", p.Item}, {"Expected", p.Expected}, {"Got", p.Got}} {
		comment(&b, line[0], line[1])
	}
	does, broken, code := "It exits with 1 if the library breaks the rule, and with 0 if it keeps it.", "VIOLATED", "kept ? 0 : 1"
	switch {
	case p.Kept == "" && p.Allowed != "":
		does = "It crashes or hangs, as the standard allows, or exits with 0."
	case p.Kept == "":
		does = "It crashes or hangs if the library breaks the rule, and exits with 0 if it keeps it."
	case p.Allowed != "":
		does = "It prints whether the library does this, and exits with 0, as the standard allows both."
		broken, code = "unchecked, which the standard allows", "0"
	}
	run := "./a.out"
	if p.Ranks > 0 {
		run = fmt.Sprintf("mpirun -n %d ./a.out", p.Ranks)
	}
	fmt.Fprintf(&b, " *\n * Compile it with the library's mpicc and start it: mpicc FILE.c && %s\n * %s */\n", run, does)
	if strings.HasPrefix(p.Section, "PERUSE") {
		b.WriteString("#include <peruse.h>\n")
	}
	b.WriteString(programStart)
	if p.File != "" {
		b.WriteString(p.File + "\n")
	}
	b.WriteString("int main(void)\n{\n")
	for _, line := range p.Lines {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	if p.Kept == "" {
		b.WriteString("    printf(\"kept: no crash\\n\");\n")
		code = "0"
	} else {
		fmt.Fprintf(&b, "    int kept = %s;\n", p.Kept)
		fmt.Fprintf(&b, "    printf(\"%%s: expected %%s\\n\", kept ? \"kept\" : \"%s\", %s);\n", broken, Quote(p.Expected))
	}
	fmt.Fprintf(&b, "    fflush(stdout);\n    _Exit(%s); /* without MPI_Finalize, which may crash */\n}\n", code)
	return b.String()
}

// comment writes a wrapped line of a comment.
func comment(b *strings.Builder, label, text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "*/", "* /"), "\n", " ")
	line := fmt.Sprintf(" * %-9s", label+":")
	for _, word := range strings.Fields(text) {
		if len(line)+len(word) > 110 {
			b.WriteString(line + "\n")
			line = " *          "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// Quote writes a C string literal.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString("\\n")
		case c == '?': // no trigraphs
			b.WriteString("\\?")
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package binding

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// returnCodes are those of Table 14.6, MPI-4, this project and PERUSE, with their numbers in shim/mpitx.h.
var returnCodes = []struct {
	err  Error
	code int
}{
	{ErrInvalid, 1}, {ErrMemory, 2}, {ErrNotInitialized, 3}, {ErrCannotInit, 4}, {ErrInvalidIndex, 5}, {ErrInvalidItem, 6},
	{ErrInvalidHandle, 7}, {ErrOutOfHandles, 8}, {ErrOutOfSessions, 9}, {ErrInvalidSession, 10}, {ErrInvalidName, 11},
	{ErrCvarSetNotNow, 12}, {ErrCvarSetNever, 13}, {ErrPvarNoStartStop, 14}, {ErrPvarNoWrite, 15}, {ErrPvarNoAtomic, 16},
	{ErrNotSupported, 17}, {ErrNotAccessible, 18}, {ErrNotProvided, 100},
	{ErrPeruseInit, 101}, {ErrPeruseGeneric, 102}, {ErrPeruseMalloc, 103}, {ErrPeruseEvent, 104}, {ErrPeruseEventHandle, 105},
	{ErrPeruseParameter, 106}, {ErrPeruseMPIInit, 107}, {ErrPeruseComm, 108}, {ErrPeruseMPIObject, 109}, {ErrPeruseLock, 110},
	{ErrPeruseUnlock, 111}, {ErrPeruseLockNotGrantable, 112},
}

// asCode passes a number to check, whose parameter type a test cannot name.
func asCode[T ~int32](check func(T) error, code int) error { return check(T(code)) }

func TestReturnCodes(t *testing.T) {
	if err := asCode(check, 0); err != nil {
		t.Error("success is an error:", err)
	}
	texts := map[string]Error{}
	for _, c := range returnCodes {
		err := asCode(check, c.code)
		wantErr(t, "code", err, c.err)
		wantErr(t, "wrapped", fmt.Errorf("read: %w", err), c.err)
		for _, other := range returnCodes {
			if other.err != c.err && errors.Is(err, other.err) {
				t.Errorf("%v is also %v", err, other.err)
			}
		}
		text := err.Error()
		if other, twice := texts[text]; twice {
			t.Errorf("%d and %d have the same text %q", other, c.err, text)
		}
		texts[text] = c.err
		if strings.Contains(text, "unknown") || strings.HasPrefix(text, "MPI error class") {
			t.Errorf("code %d has no text of its own: %q", c.code, text)
		}
	}
	want(t, "texts", len(errorTexts), len(returnCodes))
	for code, text := range map[int]string{200: "MPI_ERR_BUFFER", 215: "MPI_ERR_OTHER", 224: "MPI_ERR_UNSUPPORTED_OPERATION", 225: "unknown return code 225", 1000: "MPI error class 0", 1016: "MPI error class 16", 1099: "MPI error class 99",
		19: "unknown return code 19", -1: "unknown return code -1", 113: "unknown return code 113"} {
		want(t, "text", asCode(check, code).Error(), text)
	}
}

// A shim knows every error class, whether mpi.h has macros or, as in the standard ABI, enumerators.
func TestErrorClasses(t *testing.T) {
	source, err := os.ReadFile("shim/shim.c")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "static int error_class(")
	code, _, ok := strings.Cut(code, "/* Returns the position of the library's number")
	if !ok {
		t.Fatal("shim.c has no error_class any more")
	}
	names := []string{"CANNOT_INIT", "NOT_ACCESSIBLE", "NOT_INITIALIZED", "NOT_SUPPORTED", "MEMORY", "INVALID", "INVALID_INDEX", "INVALID_ITEM", "INVALID_SESSION",
		"INVALID_HANDLE", "INVALID_NAME", "OUT_OF_HANDLES", "OUT_OF_SESSIONS", "CVAR_SET_NOT_NOW", "CVAR_SET_NEVER", "PVAR_NO_WRITE", "PVAR_NO_STARTSTOP", "PVAR_NO_ATOMIC"}
	for family, constant := range map[string]string{"abi": "enum { MPI_T_ERR_%s = %d };\n", "macros": "#define MPI_T_ERR_%s %d\n"} {
		t.Run(family, func(t *testing.T) {
			var c strings.Builder
			c.WriteString("#include <stdio.h>\n#include <mpitx.h>\n#define MPI_SUCCESS 0\n")
			if family == "abi" {
				c.WriteString("#define MPI_ABI_VERSION 1\n")
			}
			c.WriteString("#define ENUMERATE(name) MPI_ERR_##name,\nenum { before, MPITX_ERROR_CLASSES(ENUMERATE) };\n")
			for k, name := range names {
				fmt.Fprintf(&c, constant, name, 1001+k)
			}
			c.WriteString("#define NEW_ERR_NOT_ACCESSIBLE MPI_T_ERR_NOT_ACCESSIBLE\n#define NEW_ERR_NOT_SUPPORTED MPI_T_ERR_NOT_SUPPORTED\n")
			c.WriteString("static int error_class(" + code + "int main(void)\n{\n")
			for _, name := range names {
				fmt.Fprintf(&c, "    if (rc(MPI_T_ERR_%s) != MPITX_ERR_%s) puts(%q);\n", name, name, name)
			}
			c.WriteString("    if (rc(MPI_ERR_ARG) != MPITX_ERR_CLASS + 12 || rc(4711) != MPITX_ERR_OTHER + 4711) puts(\"others\");\n}\n")
			program := filepath.Join(t.TempDir(), "classes")
			if err := os.WriteFile(program+".c", []byte(c.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("cc", "-Ishim", "-o", program, program+".c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if out, err := exec.Command(program).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("not known: %s %v", out, err)
			}
		})
	}
}

func TestErrorsAreDistinct(t *testing.T) {
	ours := []error{ErrNotBindable, ErrNeedsInit, ErrUnknownType, ErrBadCount, ErrElementOutside, ErrBadString}
	for i, a := range ours {
		for k, b := range ours {
			if errors.Is(a, b) != (i == k) {
				t.Errorf("%v, %v", a, b)
			}
		}
	}
}

// Each routine returns the library's return code unchanged.
func TestLibraryErrorsArePassedOn(t *testing.T) {
	const faults = "fail-get-info=demo_type_int;invalid-get-info=demo_type_long;dead-get-info=demo_type_short;" +
		"fail-get-index=demo_type_aint;fail-alloc=demo_type_float;invalid-alloc=demo_type_double;dead-alloc=demo_type_byte;" +
		"fail-read=demo_type_count;invalid-read=demo_type_char;dead-read=demo_type_int8_t;" +
		"fail-write=demo_type_int16_t;invalid-write=demo_type_int32_t;dead-write=demo_type_int64_t;fail-free=demo_type_uint8_t;" +
		"fail-get-info=demo_balance;fail-get-index=demo_queue;fail-alloc=demo_energy;fail-start=demo_retries;invalid-stop=demo_retries;" +
		"fail-read=demo_retries;invalid-write=demo_retries;fail-reset=demo_retries;dead-readreset=demo_retries;fail-free=demo_cursor;" +
		"fail-get-info=demo_text;fail-get-index=demo_types;fail-members=demo_memory;"
	child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) {
		for name, wanted := range map[string]Error{"int": internalError, "long": ErrInvalid, "short": ErrInvalidIndex,
			"float": internalError, "double": ErrInvalid, "byte": ErrInvalidIndex} {
			_, err := m.AllocCvar(m.cvar("demo_type_"+name), NoObject)
			wantErr(t, "AllocCvar of "+name, err, wanted)
		}
		_, err := m.CvarInfo(m.cvar("demo_type_int"))
		wantErr(t, "CvarInfo", err, internalError)
		_, err = m.CvarIndex("demo_type_aint")
		wantErr(t, "CvarIndex", err, internalError)
		for name, wanted := range map[string]Error{"count": internalError, "char": ErrInvalid, "int8_t": ErrInvalidHandle} {
			v, err := m.open("demo_type_" + name).Read()
			wantErr(t, "Read of "+name, err, wanted)
			want(t, "value", v, Value{})
		}
		for name, wanted := range map[string]Error{"int16_t": internalError, "int32_t": ErrInvalid, "int64_t": ErrInvalidHandle} {
			h := m.open("demo_type_" + name)
			wantErr(t, "Write of "+name, h.Write(must(h.Read())(t)), wanted)
		}
		h := m.open("demo_type_uint8_t")
		wantErr(t, "Free", h.Free(), internalError)
		wantErr(t, "Free again", h.Free(), ErrInvalidHandle)

		_, err = m.PvarInfo(m.pvar("demo_balance", 10))
		wantErr(t, "PvarInfo", err, internalError)
		_, err = m.PvarIndex("demo_queue", 2)
		wantErr(t, "PvarIndex", err, internalError)
		s := m.session()
		_, err = s.AllocPvar(m.pvar("demo_energy", 8), NoObject)
		wantErr(t, "AllocPvar", err, internalError)
		p := m.openPvar(s, "demo_retries", 7)
		wantErr(t, "Start", s.Start(p), internalError)
		wantErr(t, "Start all", s.Start(AllHandles), internalError)
		wantErr(t, "Stop", s.Stop(p), ErrInvalid)
		_, err = s.Read(p)
		wantErr(t, "Read", err, internalError)
		wantErr(t, "Write", s.Write(p, value(t, 2, 1, "7")), ErrInvalid)
		wantErr(t, "Reset", s.Reset(p), internalError)
		_, err = s.ReadReset(p)
		wantErr(t, "ReadReset", err, ErrInvalidHandle)
		m.openPvar(s, "demo_cursor", 10)
		wantErr(t, "Session.Free with a handle that fails", s.Free(), internalError)
		wantErr(t, "Session.Free again", s.Free(), ErrInvalidSession)

		_, err = m.CategoryInfo(m.category("demo_text"))
		wantErr(t, "CategoryInfo", err, internalError)
		_, err = m.CategoryIndex("demo_types")
		wantErr(t, "CategoryIndex", err, internalError)
		memory := m.category("demo_memory")
		_, err = m.CategoryCvars(memory)
		wantErr(t, "CategoryCvars", err, internalError)
		_, err = m.CategoryPvars(memory)
		wantErr(t, "CategoryPvars", err, internalError)
		_, err = m.CategoryCategories(memory)
		wantErr(t, "CategoryCategories", err, internalError)
		_, err = m.CategoryNumEvents(memory)
		wantErr(t, "CategoryNumEvents", err, internalError)
		wantErr(t, "Finalize with nothing left that fails", m.Finalize(), nil)
	})
}

func TestNumbersThatFail(t *testing.T) {
	child{stage: before, faults: "fail-get-num;invalid-session;fail-members"}.run(t, func(t *testing.T, m *mpi) {
		for name, call := range map[string]func() (int, error){
			"NumCvars": m.NumCvars, "NumPvars": m.NumPvars, "NumCategories": m.NumCategories,
			"CvarInfo":     func() (int, error) { _, err := m.CvarInfo(0); return 0, err },
			"PvarInfo":     func() (int, error) { _, err := m.PvarInfo(0); return 0, err },
			"CategoryInfo": func() (int, error) { _, err := m.CategoryInfo(0); return 0, err },
			"CategoryChanged": func() (int, error) {
				_, err := m.CategoryChanged()
				return 0, err
			},
		} {
			n, err := call()
			wantErr(t, name, err, internalError)
			want(t, name, n, 0)
		}
		_, err := m.NewSession()
		wantErr(t, "NewSession", err, ErrInvalid)
	})
}

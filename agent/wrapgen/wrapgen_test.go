package wrapgen

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func table(t *testing.T) *Table {
	t.Helper()
	text, err := os.ReadFile("../prototypes.txt")
	if err != nil {
		t.Fatal(err)
	}
	table, err := ParseTable(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTable(t *testing.T) {
	functions := table(t).Functions
	if len(functions) < 690 {
		t.Errorf("%d functions", len(functions))
	}
	for _, f := range functions {
		if f.Kind == "pcontrol" {
			continue
		}
		k, _ := lookKind(f.Kind)
		var names []string
		for _, p := range f.Parameters {
			if p.Name == "" || slices.Contains(names, p.Name) {
				t.Errorf("%s: parameter %q", f.Name, p)
			}
			names = append(names, p.Name)
		}
		// What the kind's code names must be there; C's compiler would say so, too, but not of functions that a family lacks.
		for _, word := range []string{"status", "request", "comm", "datatype", "dest", "source", "tag", "root", "array_of_requests", "win", "op", "fh", "flag", "message"} {
			for _, code := range []string{k.before, k.after, k.always, k.hook, k.early} {
				code = strings.NewReplacer("own_status", "", "->"+word, "").Replace(code)
				if slices.Contains(identifier().FindAllString(code, -1), word) && !slices.Contains(names, word) {
					t.Errorf("%s: kind %s needs a parameter %s", f.Name, f.Kind, word)
				}
			}
		}
	}
}

// The objects that functions make and end.
func TestFollows(t *testing.T) {
	made := func(kind, parameter string) string {
		return "if (rc == MPI_SUCCESS) follow_made(record->function, CALL_" + kind + ", HANDLE_NUMBER(*" + parameter + "));"
	}
	ended := func(kind, parameter string) string {
		return "if (" + parameter + ") follow_ending(CALL_" + kind + ", HANDLE_NUMBER(*" + parameter + "));"
	}
	want := map[string][2]string{
		"MPI_Type_vector_c":          {"", made("DATATYPE", "newtype")},
		"MPI_Type_free":              {ended("DATATYPE", "datatype"), ""},
		"MPI_Type_commit":            {"", ""},
		"MPI_Type_match_size":        {"", ""},
		"MPI_Win_create_errhandler":  {"", made("ERRHANDLER", "errhandler")},
		"MPI_Comm_get_errhandler":    {"", ""},
		"MPI_Comm_group":             {"", made("GROUP", "group")},
		"MPI_Op_free":                {ended("OP", "op"), ""},
		"MPI_Isend":                  {"", made("REQUEST", "request")},
		"MPI_Bcast_init":             {"", made("REQUEST", "request")},
		"MPI_Start":                  {"", ""},
		"MPI_Improbe":                {"", strings.Replace(made("MESSAGE", "message"), "MPI_SUCCESS", "MPI_SUCCESS && *flag", 1)},
		"MPI_Imrecv":                 {ended("MESSAGE", "message"), made("REQUEST", "request")},
		"MPI_Waitsome":               {"follow_taken(incount, array_of_requests);", "follow_left(incount, array_of_requests);"},
		"MPI_Test":                   {"follow_taken(1, request);", "follow_left(1, request);"},
		"MPI_Request_get_status_all": {"", ""},
		"MPI_Info_dup":               {"", made("INFO", "newinfo")},
		"MPI_T_event_get_info":       {"", ""},
		"MPI_Session_finalize":       {ended("SESSION", "session"), ""},
		"MPI_Send":                   {"", ""},
		"MPI_Comm_dup":               {"", ""},
	}
	kinds := map[string]bool{}
	for _, f := range table(t).Functions {
		o := f.follows()
		if w, ok := want[f.Name]; ok && (o.before != w[0] || o.after != w[1]) {
			t.Errorf("%s: %q, %q; want %q", f.Name, o.before, o.after, w)
		}
		delete(want, f.Name)
		for _, kind := range o.kinds {
			kinds[kind+map[bool]string{true: " ends"}[o.before != ""]] = true
		}
	}
	if len(want) > 0 || len(kinds) != 2*len(objectKinds) {
		t.Errorf("not in the table: %v; %v", want, kinds)
	}
}

func TestParseHeader(t *testing.T) {
	header := `
typedef int (MPI_Copy)(MPI_Comm, int *);
__attribute__((visibility("default"))) int MPI_Send(const void *buf, int count,
   MPI_Datatype datatype) __attribute__((nonnull(1), deprecated("use (x)")));
extern int MPI_File_seek(MPI_File, MPI_Offset, int);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype);
double MPI_Wtime(void);
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);
int MPI_Finalize(void);
int MPI_Range(MPI_Group group, int n, int ranges[][3], char ***argv);
`
	functions := ParseHeader(header)
	want := map[string]string{
		"MPI_Send":      "const void *buf, int count, MPI_Datatype datatype",
		"MPI_File_seek": "MPI_File , MPI_Offset , int ",
		"MPI_Finalize":  "",
		"MPI_Range":     "MPI_Group group, int n, int ranges[][3], char ***argv",
	}
	for name, parameters := range want {
		var got []string
		for _, p := range functions[name] {
			got = append(got, p.String())
		}
		if strings.Join(got, ", ") != parameters {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, ", "), parameters)
		}
	}
	if len(functions) != len(want) {
		t.Errorf("found %d functions, want %d: %v", len(functions), len(want), functions)
	}
}

func TestMerge(t *testing.T) {
	table, err := ParseTable(`
type MPI_Session handle
MPI_Send send (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
MPI_Session_get - (MPI_Session session, MPI_Comm *comm)
MPI_Strange - (MPI_Unheard_of what)
`)
	if err != nil {
		t.Fatal(err)
	}
	w := Merge(table, "typedef int MPI_Comm; int MPI_Send(void*, int, MPI_Datatype, int, int, MPI_Comm); int MPIX_New(int);", "#define MPI_Fint int\n")
	text := w.Write()
	for _, part := range []string{
		"typedef MISSING_HANDLE MPI_Session;",
		"CHAIN_RECORD(int, MPI_Send)(void*buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)",
		"CHAIN_RECORD(int, PMPI_Session_get)(", "CHAIN_RECORD(int, MPIX_New)(int a1)", `CHAIN_STUB(MPI_Send, 0)`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the wrappers lack %q", part)
		}
	}
	if len(w.Left) != 1 || !strings.Contains(w.Left[0], "MPI_Unheard_of") || strings.Contains(text, "MPI_Strange(") {
		t.Errorf("left out: %v", w.Left)
	}
}

func TestBadTables(t *testing.T) {
	for _, text := range []string{"MPI_Send send", "MPI_Send nonsense (int a)", "MPI_Send send int a", "MPI_A - (void)\nMPI_A - (void)"} {
		if _, err := ParseTable(text); err == nil {
			t.Errorf("no error: %q", text)
		}
	}
}

// Headers differ in where they write the star.
func TestState(t *testing.T) {
	of := func(star string) State {
		text := strings.ReplaceAll("int MPI_Testsome(int incount, MPI_Request *array_of_requests, int *outcount, int *array_of_indices, MPI_Status *array_of_statuses);\n"+
			"int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request);", " *", star)
		functions := ParseHeader(text)
		some := Function{Name: "MPI_Testsome", Kind: "somecomplete", Parameters: functions["MPI_Testsome"]}.State()
		isend := Function{Name: "MPI_Isend", Kind: "isend", Parameters: functions["MPI_Isend"]}.State()
		return State{Arguments: some.Arguments, Open: some.Open, Done: some.Done, Posts: isend.Posts}
	}
	s := of(" *")
	if s != of("* ") || !strings.Contains(s.Done, "*outcount") || !strings.Contains(s.Posts, "posted_add") {
		t.Errorf("%+v\n%+v", s, of("* "))
	}
}

package wrapgen

import (
	"fmt"
	"slices"
	"strings"
)

// needs are the conditions under which mpi.h has the types of a function's parameters.
var needs = []struct {
	condition string
	types     []string
}{
	{"MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5", []string{"MPI_Session", "MPI_Session_errhandler_function"}},
	{"MPI_VERSION >= 4", []string{"MPI_User_function_c", "MPI_Datarep_conversion_function_c", "MPI_T_event_cb_function", "MPI_T_event_free_cb_function",
		"MPI_T_event_dropped_cb_function", "MPI_T_event_registration", "MPI_T_event_instance", "MPI_T_cb_safety", "MPI_T_source_order"}},
	{"OMPI_MAJOR_VERSION >= 5 || MPICH_NUMVERSION >= 40000000", []string{"MPI_F08_status"}},
	{"MPICH_NUMVERSION >= 40000000", []string{"MPIX_Grequest_class", "MPIX_Grequest_poll_function", "MPIX_Grequest_wait_function"}},
	{"MPI_ABI_VERSION <= 0", []string{"MPI_Fint"}},
}

// needed is the condition for a function's prototype; "" if every mpi.h has its types.
func (f Function) needed() string {
	var all []string
	for _, p := range append(slices.Clone(f.Parameters), Parameter{Before: f.Returns()}) {
		for _, name := range mpiName().FindAllString(p.Before, -1) {
			for _, n := range needs {
				if slices.Contains(n.types, name) && !slices.Contains(all, n.condition) {
					all = append(all, n.condition)
				}
			}
		}
	}
	if len(all) > 1 {
		return "(" + strings.Join(all, ") && (") + ")"
	}
	return strings.Join(all, "")
}

// Names returns the text of functions.txt.
func (t *Table) Names() string {
	text := ""
	for _, f := range t.Functions {
		text += f.Name + "\n"
	}
	return text
}

// Header returns the text of qmpi.h, with the head up to its line /* FUNCTIONS */.
func (t *Table) Header(head string) string {
	var b strings.Builder
	head, tail, _ := strings.Cut(head, "/* FUNCTIONS */\n")
	b.WriteString(head)
	fmt.Fprintf(&b, "#define MPI_LAST_FUNC_T MPITX_FUNCTION(%d)\n", len(t.Functions))
	for n, f := range t.Functions {
		fmt.Fprintf(&b, "#define %s_T MPITX_FUNCTION(%d)\n", strings.ToUpper(f.Name), n)
	}
	condition := ""
	for _, f := range t.Functions {
		if needed := f.needed(); needed != condition {
			if condition != "" {
				b.WriteString("#endif\n")
			}
			if condition = needed; needed != "" {
				fmt.Fprintf(&b, "#if %s\n", needed)
			}
		}
		parameters := ""
		for _, p := range f.Parameters {
			parameters += ", " + p.String()
		}
		if f.Kind == "pcontrol" {
			parameters = ", const int level, ..."
		}
		fmt.Fprintf(&b, "MPITX_QMPI(%s, Q%s, (MPI_Context context, int tool_id%s))\n", f.Returns(), f.Name, parameters)
		fmt.Fprintf(&b, "#define Q%s mpitx_Q%s\n#define Q%s_t mpitx_Q%s_t\n", f.Name, f.Name, f.Name, f.Name)
	}
	if condition != "" {
		b.WriteString("#endif\n")
	}
	return b.String() + tail
}

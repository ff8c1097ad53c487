package wrapgen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// objectKinds are the types of objects that variables can be bound to, with their enum call_object. Communicators, windows and files have
// hooks of their own.
var objectKinds = map[string]string{
	"MPI_Datatype": "CALL_DATATYPE", "MPI_Errhandler": "CALL_ERRHANDLER", "MPI_Group": "CALL_GROUP", "MPI_Op": "CALL_OP",
	"MPI_Request": "CALL_REQUEST", "MPI_Message": "CALL_MESSAGE", "MPI_Info": "CALL_INFO", "MPI_Session": "CALL_SESSION",
}

// Functions that take the address of a handle without making an object, or return a predefined object, or one that exists already.
var makesNone = []string{"MPI_Type_commit", "MPI_Type_match_size", "MPI_Type_get_value_index", "MPI_Type_create_f90_complex",
	"MPI_Type_create_f90_integer", "MPI_Type_create_f90_real", "MPI_File_get_view", "MPI_Errhandler_get", "MPI_Comm_get_errhandler",
	"MPI_File_get_errhandler", "MPI_Session_get_errhandler", "MPI_Win_get_errhandler", "MPI_Start", "MPI_Cancel"}

// Functions that end the object whose handle's address they take.
var ends = []string{"MPI_Type_free", "MPI_Errhandler_free", "MPI_Group_free", "MPI_Op_free", "MPI_Request_free", "MPI_Info_free",
	"MPI_Mrecv", "MPI_Mrecv_c", "MPI_Imrecv", "MPI_Imrecv_c", "MPI_Session_finalize"}

// What functions of these kinds complete.
var completed = map[string]string{
	"wait": "1, request", "test": "1, request", "waitany": "count, array_of_requests", "testany": "count, array_of_requests",
	"waitall": "count, array_of_requests", "testall": "count, array_of_requests", "somecomplete": "incount, array_of_requests",
}

// followed is how a function's wrapper follows the objects that it makes and ends.
type followed struct {
	kinds         []string // enum call_object
	before, after string   // C code
}

func (f Function) follows() (o followed) {
	k, _ := lookKind(f.Kind)
	if requests := completed[f.Kind]; requests != "" {
		return followed{[]string{"CALL_REQUEST"}, "follow_taken(" + requests + ");", "follow_left(" + requests + ");"}
	}
	if f.Name == "MPI_Type_set_name" {
		return followed{[]string{"CALL_DATATYPE"}, "", "if (rc == MPI_SUCCESS) follow_named(CALL_DATATYPE, HANDLE_NUMBER(datatype), type_name);"}
	}
	if k.class == "TOOL" || slices.Contains(makesNone, f.Name) {
		return o
	}
	for _, p := range f.Parameters {
		kind := objectKinds[strings.TrimSuffix(strings.ReplaceAll(p.Before, " ", ""), "*")]
		if kind == "" || p.After != "" || !strings.Contains(p.Before, "*") {
			continue
		}
		o.kinds = append(o.kinds, kind)
		makes := "rc == MPI_SUCCESS"
		if f.Kind == "improbe" {
			makes += " && *flag"
		}
		if slices.Contains(ends, f.Name) && !(f.Kind == "imrecv" && kind == "CALL_REQUEST") {
			o.before += fmt.Sprintf("if (%s) follow_ending(%s, HANDLE_NUMBER(*%[1]s)); ", p.Name, kind)
		} else {
			o.after += fmt.Sprintf("if (%s) follow_made(record->function, %s, HANDLE_NUMBER(*%s)); ", makes, kind, p.Name)
		}
	}
	return followed{o.kinds, strings.TrimSpace(o.before), strings.TrimSpace(o.after)}
}

// objectBits is the OR of the kinds' bits.
func (f Function) objectBits() string {
	var bits []string
	for _, kind := range f.follows().kinds {
		bits = append(bits, "1u << "+kind)
	}
	return cmp.Or(strings.Join(bits, " | "), "0")
}

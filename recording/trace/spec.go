package trace

import (
	"strings"

	"mpitx/catalog"
	"mpitx/recording"
)

// Spec is what an event of PERUSE says of its request or message (peruse_comm_spec_t, PERUSE 2.0, section 5.1).
type Spec struct {
	Peer, Tag int // as in [Call]
	Count     int
	Datatype  catalog.Datatype // 0: none, or derived
	Operation string           // "send", "recv", "put", "get", "acc", "io_read", "io_write": PERUSE_SEND and so on; "": no event of PERUSE
}

// operations are in the order of the agent's numbers (binding/shim/mpitx.h).
var operations = [...]string{"", "send", "recv", "put", "get", "acc", "io_read", "io_write"}

// specify takes a field of an event of PERUSE. It returns false for others.
func (s *Spec) specify(name string, v recording.Value) bool {
	n, _ := v.Int64()
	switch name {
	case "peer":
		s.Peer = int(n)
	case "tag":
		s.Tag = int(n)
	case "count":
		s.Count = int(n)
	case "datatype":
		s.Datatype = catalog.Datatype(n)
	case "operation":
		if n >= 0 && n < int64(len(operations)) {
			s.Operation = operations[n]
		}
	default:
		return false
	}
	return true
}

// Size is the size of the event's buffer in bytes. It is not known of a derived datatype. Events of messages have no buffer: the
// library gives them a count of 0.
func (x *External) Size() (bytes uint64, ok bool) {
	size := x.Datatype.Size()
	if size == 0 || x.Count < 0 || !strings.HasPrefix(x.Name, "PERUSE_COMM_REQ_") {
		return 0, false
	}
	return uint64(x.Count) * uint64(size), true
}

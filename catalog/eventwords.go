package catalog

// CallbackSafety is what an event's callback must satisfy when it is called (MPI-4.0, section 15.3.8). Each level includes those
// before it.
type CallbackSafety int32

// The levels, MPI_T_CB_REQUIRE_NONE to MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE.
const (
	SafetyNone            CallbackSafety = iota + 1 // it may call any MPI routine
	SafetyMPIRestricted                             // it may call only a few routines of MPI_T
	SafetyThreadSafe                                // it may also run in several threads at once
	SafetyAsyncSignalSafe                           // it may also run in a signal handler
)

// SourceOrder is the guarantee that an event source gives about the order of its events (MPI-4.0, section 15.3.8).
type SourceOrder int32

// The guarantees, MPI_T_SOURCE_ORDERED and MPI_T_SOURCE_UNORDERED.
const (
	Ordered   SourceOrder = iota + 1 // events come in the order of their timestamps
	Unordered                        // they may not
)

var (
	safetyNames = []string{"", "none", "mpi-restricted", "thread-safe", "async-signal-safe"}
	orderNames  = []string{"", "ordered", "unordered"}
)

func (s CallbackSafety) String() string { return enumString(safetyNames, int32(s)) }
func (o SourceOrder) String() string    { return enumString(orderNames, int32(o)) }

// ParseCallbackSafety parses a level's name. An error lists the names.
func ParseCallbackSafety(s string) (CallbackSafety, error) {
	n, err := enumParse("callback safety level", "mpi-t-cb-require-", safetyNames, s)
	return CallbackSafety(n), err
}

// ParseSourceOrder parses the name of a guarantee. An error lists the names.
func ParseSourceOrder(s string) (SourceOrder, error) {
	n, err := enumParse("order of events", "mpi-t-source-", orderNames, s)
	return SourceOrder(n), err
}

func (s CallbackSafety) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
func (o SourceOrder) MarshalText() ([]byte, error)    { return []byte(o.String()), nil }

func (s *CallbackSafety) UnmarshalText(b []byte) (err error) {
	*s, err = ParseCallbackSafety(string(b))
	return
}
func (o *SourceOrder) UnmarshalText(b []byte) (err error) {
	*o, err = ParseSourceOrder(string(b))
	return
}

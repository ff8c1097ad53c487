// Package catalog is the model of what an MPI library exposes through the MPI tool information interface (MPI-3.1
// section 14.3): in one process, or in a whole job. It knows no MPI library: catalogs are built by the commands from a
// live library, or read from snapshots.
package catalog

import (
	"cmp"
	"time"
)

// SchemaName and SchemaVersion identify the JSON document of a catalog (docs/schema.md). The version grows when a
// reader of the old one would misread the new one; fields are only ever added.
const (
	SchemaName    = "mpitx.catalog"
	SchemaVersion = 1
)

// Catalog is everything that was learnt about one MPI library, in one process or in all ranks of a job.
type Catalog struct {
	Schema  string    `json:"schema"`
	Version int       `json:"version"`
	Created time.Time `json:"created"`
	Creator string    `json:"creator"` // "mpitx 0.1.0"

	Library Library `json:"library"`
	Job     Job     `json:"job"`
	Before  Stage   `json:"before"` // before MPI_Init, in a process of its own
	After   Stage   `json:"after"`  // after MPI_Init

	Lists
}

// Library identifies an MPI library.
type Library struct {
	Family   string `json:"family"`            // "openmpi", "mpich", "abi", "demo"
	Text     string `json:"text"`              // what MPI_Get_library_version returns
	Standard string `json:"standard"`          // MPI_Get_version: "3.1"
	Path     string `json:"path,omitzero"`     // of the shared library
	BuildID  string `json:"build_id,omitzero"` // of the shared library, in hexadecimal
	Events   bool   `json:"events"`            // has MPI-4's event routines
	PERUSE   bool   `json:"peruse"`            // has PERUSE
	QMPI     bool   `json:"qmpi"`              // has QMPI built in
}

// Job is where the catalog comes from.
type Job struct {
	Launcher string `json:"launcher,omitzero"` // "mpirun" of Open MPI: "prrte"/"orte"; "hydra"; "slurm"; "" for a single process
	Size     int    `json:"size"`              // MPI_Comm_size of MPI_COMM_WORLD; 1 where MPI_Init was not reached
	Ranks    []Rank `json:"ranks"`             // in rank order
}

// Rank is one process of the job.
type Rank struct {
	Rank  int    `json:"rank"`
	Host  string `json:"host,omitzero"`
	Error string `json:"error,omitzero"` // why this rank's answer is missing or partial

	Library *Library `json:"library,omitzero"` // where it is not rank 0's
}

// Stage is one of the two worlds, before and after MPI_Init: components that lose are unloaded by MPI_Init, and their
// indices become invalid.
type Stage struct {
	Read       bool        `json:"read"`           // false: this stage could not be read, Error says why
	Error      string      `json:"error,omitzero"` // also set where the stage was read only in part
	Thread     ThreadLevel `json:"thread,omitzero"`
	Cvars      int         `json:"cvars"`      // MPI_T_cvar_get_num
	Pvars      int         `json:"pvars"`      // MPI_T_pvar_get_num
	Categories int         `json:"categories"` // MPI_T_category_get_num
	DeadCvars  int         `json:"dead_cvars"` // indices that have become invalid
	DeadPvars  int         `json:"dead_pvars"`
	DeadCats   int         `json:"dead_categories"`
	Events     int         `json:"events"`  // MPI_T_event_get_num
	Sources    int         `json:"sources"` // MPI_T_source_get_num
	Seconds    float64     `json:"seconds"` // wall time of reading it, MPI_Init and MPI_T_init_thread included
}

// Variable is a control or performance variable: its metadata (equal in all processes, says Table 14.1) and its
// readings. Control variables are identified by name, performance variables by name and class.
type Variable struct {
	Kind        Kind      `json:"-"`
	Name        string    `json:"name"`
	Class       Class     `json:"class,omitzero"` // performance variables
	Scope       Scope     `json:"scope,omitzero"` // control variables
	Verbosity   Verbosity `json:"verbosity"`
	Type        Datatype  `json:"type"`
	Bind        Bind      `json:"bind"`
	Unit        string    `json:"unit,omitzero"`       // virtual variables: "ns", "B", "" for a number
	Enum        string    `json:"enum,omitzero"`       // name of the enumeration of its values
	Readonly    bool      `json:"readonly,omitzero"`   // performance variables
	Continuous  bool      `json:"continuous,omitzero"` // performance variables
	Atomic      bool      `json:"atomic,omitzero"`     // performance variables
	Description string    `json:"description,omitzero"`
	Categories  []string  `json:"categories,omitempty"` // names of the categories that list it, sorted

	Before *Reading `json:"before,omitzero"` // nil: does not exist before MPI_Init
	After  *Reading `json:"after,omitzero"`  // nil: does not exist after MPI_Init; rank 0's where the ranks differ

	Ranks     []RankReading `json:"ranks,omitempty"`     // ranks whose reading after MPI_Init differs from rank 0's, in rank order
	Nodes     []RankReading `json:"nodes,omitempty"`     // the same before MPI_Init, by the rank that read it for its node
	Conflicts []Conflict    `json:"conflicts,omitempty"` // metadata that differs where Table 14.1 forbids it
	Origin    *Origin       `json:"origin,omitzero"`     // set by the user; nil: nobody set it, as far as can be known
}

// Status is what became of an attempt to read a variable.
type Status string

// The statuses of a reading.
const (
	StatusOK      Status = "ok"
	StatusFaulty  Status = "faulty"  // crashes or hangs the library; Reason says which and where
	StatusError   Status = "error"   // the library answered with an error; Reason is its text
	StatusUnbound Status = "unbound" // bound to an object that mpitx does not have
	StatusMissing Status = "missing" // does not exist on this rank
)

// UnmarshalText reads one of the statuses.
func (s *Status) UnmarshalText(b []byte) error {
	return readWord(s, Status(b), StatusOK, StatusFaulty, StatusError, StatusUnbound, StatusMissing)
}

// Reading is one variable in one process at one stage.
type Reading struct {
	Status   Status   `json:"status"`
	Reason   string   `json:"reason,omitzero"`
	Value    Value    `json:"value,omitzero"`    // StatusOK only
	Count    int      `json:"count,omitzero"`    // number of elements that handle_alloc gave
	Writable Writable `json:"writable,omitzero"` // control variables: what writing the same value answered
}

// Writable is what a trial showed: the present value, written back in a process that is thrown away.
type Writable string

// The answers of a trial write.
const (
	WritableUnknown Writable = ""        // not tried, or the trial itself failed
	WritableYes     Writable = "yes"     // MPI_SUCCESS
	WritableNotNow  Writable = "not now" // MPI_T_ERR_CVAR_SET_NOT_NOW
	WritableNever   Writable = "never"   // MPI_T_ERR_CVAR_SET_NEVER, or a scope that rules it out
)

// UnmarshalText reads one of the answers.
func (w *Writable) UnmarshalText(b []byte) error {
	return readWord(w, Writable(b), WritableYes, WritableNotNow, WritableNever, WritableUnknown)
}

// RankReading is the reading of a rank that differs from rank 0's.
type RankReading struct {
	Rank int `json:"rank"`
	Reading
}

// Conflict is an attribute that must be equal in all processes (Table 14.1) and is not.
type Conflict struct {
	Rank  int    `json:"rank"`  // BeforeRank: before MPI_Init, where it differs from after it on the same rank
	Field string `json:"field"` // "type", "scope", …
	Here  string `json:"here"`  // on that rank
	Root  string `json:"root"`  // on rank 0
}

// BeforeRank is the rank of a Conflict between the two stages rather than between two ranks.
const BeforeRank = -1

// Origin is where the user's setting of a control variable comes from.
type Origin struct {
	Kind  OriginKind `json:"kind"`
	Where string     `json:"where"`          // the environment variable, the option as given, or the file
	Value string     `json:"value,omitzero"` // as written there
}

// OriginKind is a way by which a user sets a control variable.
type OriginKind string

// The ways.
const (
	OriginEnvironment OriginKind = "environment"
	OriginLauncher    OriginKind = "launcher"
	OriginFile        OriginKind = "file"
)

// UnmarshalText reads one of the ways.
func (k *OriginKind) UnmarshalText(b []byte) error {
	return readWord(k, OriginKind(b), OriginEnvironment, OriginLauncher, OriginFile, "")
}

// Category is a named group of variables and categories (section 14.3.8). Members that had become invalid are left out.
type Category struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitzero"`
	Cvars       []string `json:"cvars,omitempty"`      // names
	Pvars       []string `json:"pvars,omitempty"`      // name:class
	Categories  []string `json:"categories,omitempty"` // names of the categories in it
	Events      int      `json:"events,omitzero"`      // MPI_T_category_get_num_events
	Before      bool     `json:"before,omitzero"`      // exists before MPI_Init
	After       bool     `json:"after,omitzero"`       // exists after MPI_Init

	Conflicts []Conflict `json:"conflicts,omitempty"` // metadata that differs where Table 14.1 forbids it
}

// Enum is an enumeration (section 14.3.5).
type Enum struct {
	Name  string `json:"name"`
	Flags bool   `json:"flags,omitzero"` // values are ORs of items
	Items []Item `json:"items"`          // by index, as the library lists them: sparse and unsorted

	Conflicts []Conflict `json:"conflicts,omitempty"` // items that differ where Table 14.1 forbids it
}

// Item is one named value of an enumeration.
type Item struct {
	Value int    `json:"value"`
	Name  string `json:"name"`
}

// ID is what identifies a variable: its name, and for a performance variable of the library its class ("name:counter").
func (v *Variable) ID() string {
	if v.Kind == Pvars {
		return v.Name + ":" + v.Class.String()
	}
	return v.Name
}

// ID is the category's name.
func (k *Category) ID() string { return k.Name }

// ID is the enumeration's name.
func (e *Enum) ID() string { return e.Name }

func (v *Variable) conflicts() *[]Conflict { return &v.Conflicts }
func (k *Category) conflicts() *[]Conflict { return &k.Conflicts }
func (e *Enum) conflicts() *[]Conflict     { return &e.Conflicts }

func (v *Variable) compare(o *Variable) int {
	return cmp.Or(cmp.Compare(v.Name, o.Name), cmp.Compare(v.Class, o.Class))
}
func (k *Category) compare(o *Category) int { return cmp.Compare(k.Name, o.Name) }
func (e *Enum) compare(o *Enum) int         { return cmp.Compare(e.Name, o.Name) }

// Current is the reading that holds now: after MPI_Init where the variable exists there, else before.
func (v *Variable) Current() *Reading {
	if v.After != nil {
		return v.After
	}
	return v.Before
}

// Package catalog is the model of what an MPI library exposes through the MPI tool information interface (MPI-3.1, section
// 14.3), in one process or a whole job. The package uses no MPI library: commands build catalogs from a live library or read
// snapshots.
package catalog

import (
	"cmp"
	"time"
)

// SchemaName and SchemaVersion identify the JSON document of a catalog (docs/schema.md). Fields are only added; the version
// grows if a reader of the old one would misread the new one.
const (
	SchemaName    = "mpitx.catalog"
	SchemaVersion = 1
)

// Catalog describes one MPI library as seen by one process or all ranks of a job.
type Catalog struct {
	Schema  string    `json:"schema"`
	Version int       `json:"version"`
	Created time.Time `json:"created"`
	Creator string    `json:"creator"` // "mpitx 0.1.0"

	Library Library `json:"library"`
	Job     Job     `json:"job"`
	Before  Stage   `json:"before"` // before MPI_Init, read in a separate process
	After   Stage   `json:"after"`  // after MPI_Init

	Outside []Setting `json:"settings,omitempty"` // beyond MPI_T

	Lists
}

// Library identifies an MPI library.
type Library struct {
	Family   string `json:"family"`            // "openmpi", "mpich", "abi", "demo"
	Text     string `json:"text"`              // what MPI_Get_library_version returns
	Standard string `json:"standard"`          // MPI_Get_version: "3.1"
	Path     string `json:"path,omitzero"`     // of the shared library
	BuildID  string `json:"build_id,omitzero"` // of the shared library, in hexadecimal
	Events   bool   `json:"events"`            // it has MPI-4's event routines
	PERUSE   bool   `json:"peruse"`            // it has PERUSE
	QMPI     bool   `json:"qmpi"`              // it has QMPI
}

// Job is the job that the catalog was collected in.
type Job struct {
	Launcher string `json:"launcher,omitzero"` // "mpirun" of Open MPI: "prrte"/"orte"; "hydra"; "slurm"; "" for a single process
	Size     int    `json:"size"`              // MPI_Comm_size of MPI_COMM_WORLD; 1 if MPI_Init was not reached
	Ranks    []Rank `json:"ranks"`             // in rank order
	Home     string `json:"home,omitzero"`     // the home directory, on rank 0: values of variables contain it
	User     string `json:"user,omitzero"`     // the name of the user, likewise
	Tmp      string `json:"tmp,omitzero"`      // the temporary directory, likewise
}

// Rank is one process of the job.
type Rank struct {
	Rank  int    `json:"rank"`
	Host  string `json:"host,omitzero"`
	Error string `json:"error,omitzero"` // why this rank's answer is missing or partial

	Library *Library `json:"library,omitzero"` // nil: the same as rank 0's

	Settings []string `json:"-"` // of its environment, as NAME=value, to find where variables were set; nil: the same as rank 0's
	Binding  string   `json:"-"` // the processors that it may use, if it may not use all: "CPU 3"; Catalog.Outside has it
}

// Stage describes one stage: before or after MPI_Init. MPI_Init unloads components that are not selected, and their indices
// become invalid.
type Stage struct {
	Read        bool        `json:"read"`           // false: this stage could not be read, and Error says why
	Error       string      `json:"error,omitzero"` // also set if the stage was read only in part
	Thread      ThreadLevel `json:"thread,omitzero"`
	Cvars       int         `json:"cvars"`      // MPI_T_cvar_get_num
	Pvars       int         `json:"pvars"`      // MPI_T_pvar_get_num
	Categories  int         `json:"categories"` // MPI_T_category_get_num
	DeadCvars   int         `json:"dead_cvars"` // indices that have become invalid
	DeadPvars   int         `json:"dead_pvars"`
	DeadCats    int         `json:"dead_categories"`
	Events      int         `json:"events"`  // MPI_T_event_get_num
	Sources     int         `json:"sources"` // MPI_T_source_get_num
	DeadEvents  int         `json:"dead_events,omitzero"`
	Stamp       int         `json:"category_stamp,omitzero"` // MPI_T_category_changed, which other contents of categories change; 0: unknown, or it changes with every call
	Environment []string    `json:"environment,omitempty"`   // PERUSE_Query_environment: variables that affect the library, as NAME=value
	Seconds     float64     `json:"seconds"`                 // wall time of reading it, including MPI_Init and MPI_T_init_thread
}

// Variable is a control or performance variable: its metadata, which Table 14.1 requires to be equal in all processes, and its
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
	Items       []Item    `json:"items,omitempty"`     // in exports only: what the description says of the values, see [Catalog.EnumOf]
	Description string    `json:"description,omitzero"`
	Categories  []string  `json:"categories,omitempty"` // names of the categories that list it, sorted

	Before *Reading `json:"before,omitzero"` // nil: does not exist before MPI_Init
	After  *Reading `json:"after,omitzero"`  // nil: does not exist after MPI_Init; rank 0's if the ranks differ

	Ranks     []RankReading `json:"ranks,omitempty"`     // ranks whose reading after MPI_Init differs from rank 0's, in rank order
	Nodes     []RankReading `json:"nodes,omitempty"`     // the same before MPI_Init, by the rank that read it for its node
	Conflicts []Conflict    `json:"conflicts,omitempty"` // metadata that differ although Table 14.1 forbids it
	Origin    *Origin       `json:"origin,omitzero"`     // how the user set it on rank 0; nil: not set, as far as known
	Origins   []RankOrigin  `json:"origins,omitempty"`   // ranks on which it was set otherwise, in rank order
}

// Status is the outcome of reading a variable.
type Status string

// The statuses of a reading.
const (
	StatusOK      Status = "ok"
	StatusFaulty  Status = "faulty"  // it crashes or hangs the library; Reason says which and where
	StatusError   Status = "error"   // the library returned an error; Reason is its text
	StatusUnbound Status = "unbound" // it is bound to an object that mpitx does not have
	StatusMissing Status = "missing" // it does not exist on this rank
)

// UnmarshalText accepts one of the statuses.
func (s *Status) UnmarshalText(b []byte) error {
	return readWord(s, Status(b), StatusOK, StatusFaulty, StatusError, StatusUnbound, StatusMissing)
}

// Reading is the result of reading one variable in one process at one stage.
type Reading struct {
	Status   Status   `json:"status"`
	Reason   string   `json:"reason,omitzero"`
	Value    Value    `json:"value,omitzero"`    // StatusOK only
	Count    int      `json:"count,omitzero"`    // number of elements that MPI_T_*_handle_alloc returned
	Writable Writable `json:"writable,omitzero"` // control variables: the result of the trial write
}

// Writable is the result of a trial write: writing back the current value in a process that is discarded.
type Writable string

// The results of a trial write.
const (
	WritableUnknown Writable = ""        // not tried, or the trial itself failed
	WritableYes     Writable = "yes"     // MPI_SUCCESS
	WritableNotNow  Writable = "not now" // MPI_T_ERR_CVAR_SET_NOT_NOW
	WritableNever   Writable = "never"   // MPI_T_ERR_CVAR_SET_NEVER, or a scope that rules it out
)

// UnmarshalText accepts one of the results.
func (w *Writable) UnmarshalText(b []byte) error {
	return readWord(w, Writable(b), WritableYes, WritableNotNow, WritableNever, WritableUnknown)
}

// RankReading is the reading of a rank that differs from rank 0's.
type RankReading struct {
	Rank int `json:"rank"`
	Reading
}

// Conflict is an attribute that differs between processes although Table 14.1 forbids it.
type Conflict struct {
	Rank  int    `json:"rank"`  // BeforeRank: a difference between the stages on one rank
	Field string `json:"field"` // "type", "scope", …
	Here  string `json:"here"`  // on that rank
	Root  string `json:"root"`  // on rank 0
}

// BeforeRank is the rank of a Conflict between the two stages.
const BeforeRank = -1

// Origin is the place where the user set a control variable.
type Origin struct {
	Kind  OriginKind `json:"kind"`
	Where string     `json:"where"`          // the environment variable, the option, or the file
	Value string     `json:"value,omitzero"` // as given there
}

// OriginKind is a way to set a control variable.
type OriginKind string

// The ways.
const (
	OriginEnvironment OriginKind = "environment"
	OriginLauncher    OriginKind = "launcher"
	OriginFile        OriginKind = "file"
)

// UnmarshalText accepts one of the ways.
func (k *OriginKind) UnmarshalText(b []byte) error {
	return readWord(k, OriginKind(b), OriginEnvironment, OriginLauncher, OriginFile, "")
}

// Category is a named group of variables and categories (section 14.3.8). Invalid members are left out.
type Category struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitzero"`
	Cvars       []string `json:"cvars,omitempty"`       // names
	Pvars       []string `json:"pvars,omitempty"`       // name:class
	Categories  []string `json:"categories,omitempty"`  // names of the categories in it
	Events      int      `json:"events,omitzero"`       // MPI_T_category_get_num_events
	EventTypes  []string `json:"event_types,omitempty"` // names of the events
	Before      bool     `json:"before,omitzero"`       // exists before MPI_Init
	After       bool     `json:"after,omitzero"`        // exists after MPI_Init
	Added       []string `json:"added,omitempty"`       // members that a category of both stages has only after MPI_Init
	Removed     []string `json:"removed,omitempty"`     // members that it has only before MPI_Init

	Conflicts []Conflict `json:"conflicts,omitempty"` // metadata that differ although Table 14.1 forbids it
}

// Enum is an enumeration (section 14.3.5).
type Enum struct {
	Name  string `json:"name"`
	Flags bool   `json:"flags,omitzero"` // values are ORs of items
	Items []Item `json:"items"`          // by index; values are sparse and unsorted

	Conflicts []Conflict `json:"conflicts,omitempty"` // items that differ although Table 14.1 forbids it
}

// Item is one named value of an enumeration.
type Item struct {
	Value int    `json:"value"`
	Name  string `json:"name"`
}

// ID identifies a variable: its name, and for a performance variable of the library also its class ("name:counter").
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

// Current returns the reading after MPI_Init if the variable exists there, else the one before.
func (v *Variable) Current() *Reading {
	if v.After != nil {
		return v.After
	}
	return v.Before
}

package catalog

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// sampleProcess simulates one process of a real job: about as many variables as Open MPI has, with names, descriptions and values
// of realistic lengths.
func sampleProcess(rank, cvars int) *Process {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &Process{Rank: rank, Host: fmt.Sprintf("node%d", rank/16), Stage: Stage{Read: true, Thread: ThreadMultiple}}
	p.Meta.Library = Library{Family: "openmpi", Text: "Open MPI v4.1.4", Standard: "3.1", Path: "/usr/lib/libmpi.so.40"}
	p.Meta.Enums = []Enum{{Name: "boolean", Items: []Item{{0, "false"}, {1, "true"}}}}
	types := []Datatype{TypeInt, TypeInt, TypeInt, TypeChar, TypeBool, TypeUnsignedLong}
	var readings []Reading
	for i := range cvars {
		name := fmt.Sprintf("framework%02d_component%d_parameter_%04d", i/40, i/10%4, i)
		v := Variable{Kind: Cvars, Name: name, Scope: ScopeAllEq, Verbosity: Verbosity(1 + i%9), Type: types[i%len(types)],
			Bind: BindNoObject, Description: strings.Repeat("what this parameter does ", rng.IntN(6))}
		g := Reading{Status: StatusOK, Count: 1, Writable: WritableNever}
		switch v.Type {
		case TypeChar:
			g.Value, g.Count = NewText(fmt.Sprintf("value-%d", i)), 2048
		case TypeBool:
			g.Value, v.Enum = NewValue(TypeBool, []byte{byte(i % 2)}), "boolean"
		default:
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], uint64(i))
			g.Value = NewValue(v.Type, b[:v.Type.Size()])
		}
		p.Meta.Cvars = append(p.Meta.Cvars, v)
		readings = append(readings, g)
	}
	for i := range 33 {
		p.Meta.Pvars = append(p.Meta.Pvars, Variable{Kind: Pvars, Name: fmt.Sprintf("pvar_%02d", i), Class: ClassCounter,
			Verbosity: 3, Type: TypeUnsignedLongLong, Bind: BindComm, Continuous: true})
		readings = append(readings, Reading{Status: StatusFaulty, Reason: "crashes in MPI_T_pvar_handle_alloc"})
	}
	for i := 0; i < cvars; i += 10 {
		k := Category{Name: fmt.Sprintf("framework%02d_component%d", i/40, i/10%4)}
		for j := i; j < min(i+10, cvars); j++ {
			k.Cvars = append(k.Cvars, p.Meta.Cvars[j].Name)
		}
		p.Meta.Categories = append(p.Meta.Categories, k)
	}
	p.Readings = readings
	return p
}

// sampleCatalog is a catalog as large as Open MPI's, from four ranks.
func sampleCatalog() *Catalog {
	p := sampleProcess(0, 1300)
	c := &Catalog{Schema: SchemaName, Version: SchemaVersion, Creator: "mpitx test",
		Created: time.Date(2026, 11, 20, 12, 0, 0, 123, time.UTC), Library: p.Meta.Library,
		Job:   Job{Size: 4, Ranks: []Rank{{Host: "node0"}, {Rank: 1, Host: "node0"}, {Rank: 2}, {Rank: 3, Error: "lost"}}},
		Lists: p.Meta.Lists}
	c.After = p.Stage
	vars := [][]Variable{c.Cvars, c.Pvars}
	n := 0
	for _, list := range vars {
		for i := range list {
			g := p.Readings[n]
			list[i].Before, list[i].After = &g, &g
			n++
		}
	}
	return c
}

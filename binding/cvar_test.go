package binding

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
)

func TestNumCvars(t *testing.T) {
	for s, num := range map[stage]int{before: 70, after: 74, across: 74} {
		t.Run(string(rune('0'+s)), func(t *testing.T) {
			child{stage: s}.run(t, func(t *testing.T, m *mpi) {
				want(t, "control variables", must(m.NumCvars())(t), num)
			})
		})
	}
}

func TestCvarInfo(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		for _, c := range []CvarInfo{
			{Name: "demo_version", Verbosity: catalog.VerbosityUserBasic, Datatype: catalog.TypeChar, Bind: catalog.BindNoObject,
				Scope: catalog.ScopeConstant, Description: "Version of the demo library."},
			{Name: "demo_uptime", Verbosity: catalog.VerbosityUserBasic, Datatype: catalog.TypeInt, Bind: catalog.BindNoObject,
				Scope: catalog.ScopeReadonly, Description: "Whole seconds since the library was loaded: read-only, and yet it changes."},
			{Name: "demo_rail_weight", Verbosity: catalog.VerbosityTunerAll, Datatype: catalog.TypeFloat, Bind: catalog.BindNoObject,
				Scope: catalog.ScopeGroup, Description: "Share of the traffic on the first rail. Group: the processes of one node."},
			{Name: "demo_type_offset", Verbosity: catalog.VerbosityMPIDevAll, Datatype: catalog.TypeOffset, Bind: catalog.BindNoObject,
				Scope: catalog.ScopeLocal, Description: "A variable of type MPI_OFFSET."},
			{Name: "demo_comm_eager_limit", Verbosity: catalog.VerbosityTunerBasic, Datatype: catalog.TypeInt, Bind: catalog.BindComm,
				Scope: catalog.ScopeLocal, Description: "Eager limit towards each process of the communicator."},
			{Name: "demo_session_limit", Verbosity: catalog.VerbosityMPIDevBasic, Datatype: catalog.TypeInt, Bind: catalog.BindSession,
				Scope: catalog.ScopeLocal, Description: "A limit that each session has for itself."},
			{Name: "demo_undocumented", Verbosity: catalog.VerbosityMPIDevAll, Datatype: catalog.TypeInt, Bind: catalog.BindNoObject,
				Scope: catalog.ScopeLocal},
			{Name: "demo_lines", Verbosity: catalog.VerbosityMPIDevDetail, Datatype: catalog.TypeInt, Bind: catalog.BindNoObject,
				Scope:       catalog.ScopeLocal,
				Description: "A description of several lines:\n  - the first,\n  - the second,\n\n\tand one behind a tab.\n"},
		} {
			want(t, c.Name, must(m.CvarInfo(m.cvar(c.Name)))(t), c)
		}
		scopes, verbosities := map[Scope]bool{}, map[Verbosity]bool{}
		for k := range 70 {
			info := must(m.CvarInfo(k))(t)
			want(t, "index of "+info.Name, must(m.CvarIndex(info.Name))(t), k)
			scopes[info.Scope], verbosities[info.Verbosity] = true, true
		}
		want(t, "scopes", len(scopes), 7)
		want(t, "verbosities", len(verbosities), 9)
	})
}

func TestLongAndHostileStrings(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		for range 2 { // with a small buffer, with a grown one
			long := must(m.CvarInfo(m.cvar("demo_long_description")))(t).Description
			if len(long) != 5000 || !strings.HasPrefix(long, "Sentence 0 of") {
				t.Errorf("%d bytes: %.60q", len(long), long)
			}
			want(t, "empty description", must(m.CvarInfo(m.cvar("demo_undocumented")))(t).Description, "")
		}
		hostile := must(m.CvarInfo(m.cvar("demo_hostile_text")))(t).Description
		for _, part := range []string{"\x1b[31m", "\a", "\r", "\xc2\x9b2J", "\xe2\x80\xae", "\xff, the end."} {
			if !strings.Contains(hostile, part) {
				t.Errorf("%q was changed: %q", part, hostile)
			}
		}
		name := "demo_a_name_that_is_much_longer_than_any_column_and_that_goes_on_for_one_hundred_characters_and_one"
		want(t, "long name", must(m.CvarInfo(m.cvar(name)))(t).Name, name)
		info := must(m.CvarInfo(m.cvar("demo_lines")))(t)
		must(m.CvarInfo(m.cvar("demo_unicode")))(t)
		want(t, "a name does not change with the next call", info.Name, "demo_lines")
	})
}

func TestInvalidCvarNamesAndIndices(t *testing.T) {
	// Faults make the library crash on every index that it should reject.
	child{stage: before, faults: "no-checks;off-by-one"}.run(t, func(t *testing.T, m *mpi) {
		for _, name := range []string{"", "demo", "DEMO_LINES", "demo_lines ", "demo_lines\x00and more", strings.Repeat("x", 100000)} {
			_, err := m.CvarIndex(name)
			wantErr(t, "CvarIndex of "+name[:min(len(name), 30)], err, ErrInvalidName)
			_, err = m.PvarIndex(name, catalog.ClassLevel)
			wantErr(t, "PvarIndex of "+name[:min(len(name), 30)], err, ErrInvalidName)
		}
		for _, name := range []string{"", "demo\x00"} {
			_, err := m.CategoryIndex(name)
			wantErr(t, "CategoryIndex", err, ErrInvalidName)
		}
		s := m.session()
		for _, index := range []int{-1, 1000, math.MinInt32, math.MaxInt32, 1 << 32, math.MinInt, math.MaxInt} {
			for what, err := range m.useIndex(s, index, index, index) {
				wantErr(t, what, err, ErrInvalidIndex)
			}
		}
		for what, err := range m.useIndex(s, must(m.NumCvars())(t), must(m.NumPvars())(t), must(m.NumCategories())(t)) {
			wantErr(t, what+" at the number", err, ErrInvalidIndex)
		}
	})
}

// useIndex calls every routine that takes an index.
func (m *mpi) useIndex(s *Session, cvar, pvar, category int) map[string]error {
	errs := map[string]error{}
	_, errs["CvarInfo"] = m.CvarInfo(cvar)
	_, errs["AllocCvar"] = m.AllocCvar(cvar, NoObject)
	_, errs["ProbeWrite"] = m.ProbeWrite(cvar, 1, value(m.t, catalog.TypeInt, 1, "1"), ProbeOptions{})
	_, errs["PvarInfo"] = m.PvarInfo(pvar)
	_, errs["AllocPvar"] = s.AllocPvar(pvar, NoObject)
	_, errs["CategoryInfo"] = m.CategoryInfo(category)
	_, errs["CategoryCvars"] = m.CategoryCvars(category)
	_, errs["CategoryPvars"] = m.CategoryPvars(category)
	_, errs["CategoryCategories"] = m.CategoryCategories(category)
	_, errs["CategoryNumEvents"] = m.CategoryNumEvents(category)
	_, errs["CategoryEvents"] = m.CategoryEvents(category)
	return errs
}

// A variable that MPI_Init unloads keeps its index, which is invalid from then on, and so are handles made before.
func TestVariablesThatDie(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		cvar, pvar, category := m.cvar("demo_startup_mode"), m.pvar("demo_startup_messages", catalog.ClassCounter), m.category("demo_startup")
		h, s := m.open("demo_startup_mode"), m.session()
		p := m.openPvar(s, "demo_startup_messages", catalog.ClassCounter)
		alive := m.open("demo_lines")
		must(h.Read())(t)
		m.initMPI()
		for what, err := range m.useIndex(s, cvar, pvar, category) {
			if what != "ProbeWrite" {
				wantErr(t, what, err, ErrInvalidIndex)
			}
		}
		_, err := m.CvarIndex("demo_startup_mode")
		wantErr(t, "CvarIndex", err, ErrInvalidName)
		_, err = m.PvarIndex("demo_startup_messages", catalog.ClassCounter)
		wantErr(t, "PvarIndex", err, ErrInvalidName)
		_, err = m.CategoryIndex("demo_startup")
		wantErr(t, "CategoryIndex", err, ErrInvalidName)
		_, err = h.Read()
		wantErr(t, "Read", err, ErrInvalidHandle)
		wantErr(t, "Write", h.Write(value(t, catalog.TypeInt, 1, "1")), ErrInvalidHandle)
		_, err = s.Read(p)
		wantErr(t, "Session.Read", err, ErrInvalidHandle)
		h.Free()
		wantErr(t, "Free again", h.Free(), ErrInvalidHandle)
		wantErr(t, "Session.Free", s.Free(), nil)
		must(alive.Read())(t)
		must(m.CvarInfo(m.cvar("demo_late_cache")))(t)
	})
}

func TestReadEveryType(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		seen := map[Datatype]bool{}
		for name, text := range map[string]string{
			"int": "-1", "unsigned": "4294967295", "unsigned_long": "18446744073709551615", "unsigned_long_long": "18446744073709551614",
			"count": "-9223372036854775808", "char": "some text", "double": "0.1", "int32_t": "-2147483648", "int64_t": "9223372036854775807",
			"uint32_t": "4000000000", "uint64_t": "9007199254740993", "c_bool": "true", "long": "-9223372036854775808",
			"long_long": "-9007199254740993", "short": "-32768", "unsigned_short": "65535", "signed_char": "-128", "unsigned_char": "255",
			"float": "0.1", "int8_t": "-127", "int16_t": "-32767", "uint8_t": "254", "uint16_t": "65534", "aint": "-4096",
			"offset": "1099511627776", "byte": "171",
		} {
			v := m.read("demo_type_" + name)
			want(t, name, v.String(), text)
			want(t, "type of "+name, v.Type(), must(m.CvarInfo(m.cvar("demo_type_"+name)))(t).Datatype)
			seen[v.Type()] = true
		}
		want(t, "types", len(seen), int(catalog.TypeByte))
	})
}

func TestReadArraysAndStrings(t *testing.T) {
	child{stage: before, env: []string{"DEMO_CVAR_DEMO_TRANSPORT=tcp", "FAKEMPI_HOST=somewhere"}}.run(t, func(t *testing.T, m *mpi) {
		for name, c := range map[string]struct {
			text  string
			count int
		}{
			"demo_eager_thresholds": {"512,4096,16384", 3},
			"demo_cost_model":       {"1.5e-06,2e-07,0.5,12.5", 4},
			"demo_transport":        {"tcp", 2048},
			"demo_processor_name":   {"somewhere", 256},
			"demo_unicode":          {"\u03b1 \u65e5\u672c", 64},
			"demo_hostile_text":     {"\x1b[2Jcleared\r\u202e", 128},
		} {
			h := m.open(name)
			want(t, name, must(h.Read())(t).String(), c.text)
			want(t, "count of "+name, h.Count(), c.count)
		}
		want(t, "long string", len(m.read("demo_param_files").Text()), 2000)
	})
}

func TestWriteEveryType(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		num := must(m.NumCvars())(t)
		written := 0
		for k := range num {
			info := must(m.CvarInfo(k))(t)
			if !strings.HasPrefix(info.Name, "demo_type_") {
				continue
			}
			for _, text := range map[catalog.Form][]string{catalog.FormText: {"", "other", strings.Repeat("x", 31)},
				catalog.FormBool: {"false", "true"}, catalog.FormFloat: {"-1.5", "+Inf", "NaN"}, catalog.FormSigned: {"-100", "100", "0"},
				catalog.FormUnsigned: {"200", "0"}}[info.Datatype.Form()] {
				h := must(m.AllocCvar(k, NoObject))(t)
				wantErr(t, info.Name, h.Write(value(t, info.Datatype, h.Count(), text)), nil)
				want(t, info.Name, must(h.Read())(t).String(), text)
				want(t, info.Name+" by another handle", m.read(info.Name).String(), text)
				wantErr(t, "Free", h.Free(), nil)
			}
			written++
		}
		want(t, "types", written, int(catalog.TypeByte))

		h := m.open("demo_eager_thresholds")
		wantErr(t, "array", h.Write(value(t, catalog.TypeInt, 3, "1,2,3")), nil)
		want(t, "array", m.read("demo_eager_thresholds").String(), "1,2,3")
		wantErr(t, "synonym", m.open("demo_eager_size").Write(value(t, catalog.TypeInt, 1, "77")), nil)
		want(t, "the other name", m.read("demo_eager_limit").String(), "77")
	})
}

func TestWriteAnswers(t *testing.T) {
	for _, c := range []struct {
		stage      stage
		name, text string
		want       error
	}{
		{before, "demo_eager_buffers", "65", nil},
		{after, "demo_eager_buffers", "65", ErrCvarSetNotNow},
		{before, "demo_transport", "tcp", nil},
		{after, "demo_transport", "tcp", ErrCvarSetNever},
		{before, "demo_checkpoint", "1", ErrCvarSetNotNow},
		{after, "demo_checkpoint", "1", nil},
		{before, "demo_version", "2", ErrCvarSetNever},
		{before, "demo_uptime", "2", ErrCvarSetNever},
		{before, "demo_eager_limit", "-1", ErrInvalid},
		{before, "demo_debug_level", "41", ErrInvalid},
		{before, "demo_debug_level", "-100", nil},
		{before, "demo_transport_flags", "7", nil},
		{before, "demo_transport_flags", "8", ErrInvalid},
	} {
		t.Run(c.name+c.text+string(rune('0'+c.stage)), func(t *testing.T) {
			child{stage: c.stage}.run(t, func(t *testing.T, m *mpi) {
				h := m.open(c.name)
				old := must(h.Read())(t)
				now := value(t, old.Type(), h.Count(), c.text)
				wantErr(t, "Write", h.Write(now), c.want)
				if c.want != nil {
					now = old
				}
				if c.name != "demo_uptime" {
					want(t, "value afterwards", must(h.Read())(t), now)
				}
			})
		})
	}
}

// Values that do not fit never reach the library, which would crash here.
func TestWriteWrongValues(t *testing.T) {
	child{stage: before, faults: "crash-write"}.run(t, func(t *testing.T, m *mpi) {
		for _, c := range []struct {
			name, why string
			v         Value
		}{
			{"demo_lines", "no value", Value{}},
			{"demo_lines", "another type of the same size", value(t, catalog.TypeUnsigned, 1, "1")},
			{"demo_lines", "another type", value(t, catalog.TypeLong, 1, "1")},
			{"demo_lines", "text", catalog.NewText("1")},
			{"demo_lines", "two elements", value(t, catalog.TypeInt, 2, "1,2")},
			{"demo_lines", "no element", catalog.NewValue(catalog.TypeInt, nil)},
			{"demo_eager_thresholds", "two of three", value(t, catalog.TypeInt, 2, "1,2")},
			{"demo_type_char", "text without room for its end", catalog.NewText(strings.Repeat("x", 32))},
			{"demo_type_char", "long text", catalog.NewText(strings.Repeat("x", 100000))},
			{"demo_type_char", "a number", value(t, catalog.TypeByte, 32, strings.TrimSuffix(strings.Repeat("1,", 32), ","))},
		} {
			h := m.open(c.name)
			old := must(h.Read())(t)
			wantErr(t, c.name+": "+c.why, h.Write(c.v), ErrInvalid)
			want(t, c.name+" afterwards", must(h.Read())(t), old)
		}
	})
}

func TestCvarHandles(t *testing.T) {
	// The library crashes on handles that it should reject.
	child{stage: before, faults: "no-checks"}.run(t, func(t *testing.T, m *mpi) {
		a, b := m.open("demo_lines"), m.open("demo_lines")
		wantErr(t, "Free", a.Free(), nil)
		wantErr(t, "Free again", a.Free(), ErrInvalidHandle)
		_, err := a.Read()
		wantErr(t, "Read", err, ErrInvalidHandle)
		wantErr(t, "Write", a.Write(value(t, catalog.TypeInt, 1, "1")), ErrInvalidHandle)
		must(b.Read())(t)
		for range 20000 {
			wantErr(t, "Free", m.open("demo_lines").Free(), nil)
		}
		want(t, "handles left", len(m.cvarHandles), 1)
	})
}

func TestBinding(t *testing.T) {
	kinds := []string{"datatype", "errhandler", "file", "group", "op", "request", "win", "message", "info", "session"}
	child{stage: across}.run(t, func(t *testing.T, m *mpi) {
		for _, kind := range kinds {
			for _, object := range []Object{NoObject, CommWorld} {
				_, err := m.AllocCvar(m.cvar("demo_"+kind+"_limit"), object)
				wantErr(t, kind, err, ErrNotBindable)
			}
		}
		priority := m.cvar("demo_comm_priority")
		_, err := m.AllocCvar(priority, NoObject)
		wantErr(t, "no communicator", err, ErrNotBindable)
		world, self := must(m.AllocCvar(priority, CommWorld))(t), must(m.AllocCvar(priority, CommSelf))(t)
		wantErr(t, "Write", world.Write(value(t, catalog.TypeInt, 1, "5")), nil)
		want(t, "world", must(world.Read())(t).String(), "5")
		want(t, "self", must(self.Read())(t).String(), "0")
		h := must(m.AllocCvar(m.cvar("demo_lines"), CommWorld))(t)
		want(t, "bound to nothing, and given an object", must(h.Read())(t).String(), "1")

		wantErr(t, "MPI_Finalize", m.lib.Finalize(), nil)
		_, err = m.AllocCvar(priority, CommWorld)
		wantErr(t, "after MPI_Finalize", err, ErrNeedsInit)
		_, err = m.session().AllocPvar(m.pvar("demo_messages_sent", catalog.ClassCounter), CommSelf)
		wantErr(t, "after MPI_Finalize", err, ErrNeedsInit)
	})
}

func TestBindingNeedsInit(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		for object, wanted := range map[Object]error{NoObject: ErrNotBindable, CommWorld: ErrNeedsInit, CommSelf: ErrNeedsInit} {
			_, err := m.AllocCvar(m.cvar("demo_comm_priority"), object)
			wantErr(t, "AllocCvar", err, wanted)
			_, err = m.session().AllocPvar(m.pvar("demo_messages_sent", catalog.ClassCounter), object)
			wantErr(t, "AllocPvar", err, wanted)
		}
		_, err := m.session().AllocPvar(m.pvar("demo_win_epochs", catalog.ClassCounter), CommWorld)
		wantErr(t, "AllocPvar", err, ErrNotBindable)
	})
}

func TestBindingCountsProcesses(t *testing.T) {
	child{stage: after, ranks: 3}.run(t, func(t *testing.T, m *mpi) {
		limit := m.cvar("demo_comm_eager_limit")
		sent := m.pvar("demo_messages_sent", catalog.ClassCounter)
		s := m.session()
		for object, count := range map[Object]int{CommWorld: 3, CommSelf: 1} {
			h := must(m.AllocCvar(limit, object))(t)
			want(t, "count", h.Count(), count)
			want(t, "elements", must(h.Read())(t).Len(), count)
			p := must(s.AllocPvar(sent, object))(t)
			want(t, "count", p.Count(), count)
			want(t, "elements", must(s.Read(p))(t).Len(), count)
		}
		want(t, "size", m.read("demo_size").Int(0), 3)
	})
}

// AllocCvar fails for an impossible count, and frees the library's handle.
func TestImpossibleCounts(t *testing.T) {
	const faults = "untouched-count=demo_type_int;zero-count=demo_type_long;huge-count=demo_type_short;negative-count=demo_type_byte;" +
		"unknown-type=demo_type_aint;untouched-count=demo_cursor;huge-count=demo_balance;negative-count=demo_retries;unknown-type=demo_energy"
	child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) {
		h := m.open("demo_type_int")
		want(t, "untouched", h.Count(), 1)
		want(t, "untouched", must(h.Read())(t).String(), "-1")
		h = m.open("demo_type_long")
		want(t, "zero", h.Count(), 0)
		want(t, "zero", must(h.Read())(t).Len(), 0)
		s := m.session()
		want(t, "untouched", m.openPvar(s, "demo_cursor", catalog.ClassGeneric).Count(), 1)
		bad := func(name string, wanted error) {
			index := m.cvar(name)
			for range 9000 {
				if _, err := m.AllocCvar(index, NoObject); err != wanted {
					t.Fatalf("%s: got error %v, want %v", name, err, wanted)
				}
			}
		}
		bad("demo_type_short", ErrBadCount)
		bad("demo_type_byte", ErrBadCount)
		bad("demo_type_aint", ErrUnknownType)
		for name, wanted := range map[string]error{"demo_balance": ErrBadCount, "demo_retries": ErrBadCount, "demo_energy": ErrUnknownType} {
			index := slices.IndexFunc(m.pvarNames(), func(n string) bool { return n == name })
			for range 9000 {
				if _, err := s.AllocPvar(index, NoObject); err != wanted {
					t.Fatalf("%s: got error %v, want %v", name, err, wanted)
				}
			}
		}
	})
}

func TestUnknownEnumerations(t *testing.T) {
	child{stage: before, faults: "unknown-verbosity;unknown-scope;unknown-bind;unknown-class;unknown-type"}.run(t, func(t *testing.T, m *mpi) {
		c, p := must(m.CvarInfo(0))(t), must(m.PvarInfo(0))(t)
		for what, text := range map[string]string{"verbosity": c.Verbosity.String(), "scope": c.Scope.String(), "bind": c.Bind.String(),
			"type": c.Datatype.String(), "pvar verbosity": p.Verbosity.String(), "class": p.Class.String(), "pvar bind": p.Bind.String(),
			"pvar type": p.Datatype.String()} {
			want(t, what, text, "unknown(17)")
		}
		want(t, "name", c.Name, "demo_version")
		_, err := m.AllocCvar(0, CommWorld)
		wantErr(t, "AllocCvar", err, ErrNotBindable)
		_, err = m.PvarIndex("demo_queue", p.Class)
		wantErr(t, "PvarIndex of an unknown class", err, ErrInvalidName)
	})
}

package binding

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
)

// quick is a time limit that still is long enough on a busy machine for calls that do not hang, as a stall is tried twice.
const quick = 150 * time.Millisecond

func (m *mpi) probe(o ProbeOptions) (cvars, pvars []Trial) {
	m.t.Helper()
	if o.Limit == 0 {
		o.Limit = 5 * time.Second
	}
	trials, err := m.Probe(must(m.NumCvars())(m.t), must(m.NumPvars())(m.t), o)
	c, p := trials.Cvars, trials.Pvars
	if err != nil {
		m.t.Fatal(err)
	}
	return c, p
}

// checkOthers expects all variables except faulty ones to be read, with the values that handles in this process return.
func (m *mpi) checkOthers(cvars, pvars []Trial, faulty map[string]string) {
	m.t.Helper()
	for k, trial := range cvars {
		info, err := m.CvarInfo(k)
		if err != nil || faulty[info.Name] != "" || info.Name == "demo_uptime" {
			continue
		}
		h, err := m.AllocCvar(k, CommWorld)
		if err != nil {
			want(m.t, info.Name, trial.Reading.Status, catalog.StatusUnbound)
			continue
		}
		v := must(h.Read())(m.t)
		h.Free()
		if r := trial.Reading; r.Status != catalog.StatusOK || r.Value != v || r.Count != h.value.count || r.Reason != "" || trial.Dead || trial.Nameless {
			m.t.Errorf("%s: %+v, value %q, want %q", info.Name, trial, r.Value, v)
		}
	}
	for k, trial := range pvars {
		info, err := m.PvarInfo(k)
		if err != nil || faulty[info.Name] != "" {
			continue
		}
		wanted := catalog.StatusOK
		if info.Bind != catalog.BindNoObject && (info.Bind != catalog.BindComm || !m.lib.hasComms()) {
			wanted = catalog.StatusUnbound
		}
		if r := trial.Reading; r.Status != wanted || trial.Dead || trial.Nameless || wanted == catalog.StatusOK && r.Value.Type() != info.Datatype {
			m.t.Errorf("%s: %+v", info.Name, trial)
		}
	}
}

func TestProbe(t *testing.T) {
	for name, s := range map[string]stage{"before": before, "after": after, "across": across} {
		t.Run(name, func(t *testing.T) {
			child{stage: s}.run(t, func(t *testing.T, m *mpi) {
				cvars, pvars := m.probe(ProbeOptions{Object: CommWorld})
				want(t, "control variables", len(cvars), must(m.NumCvars())(t))
				want(t, "performance variables", len(pvars), must(m.NumPvars())(t))
				m.checkOthers(cvars, pvars, nil)
				dead := 0
				for _, trial := range append(cvars, pvars...) {
					if trial.Dead {
						dead++
					}
					want(t, "trial writes", trial.Reading.Writable, catalog.WritableUnknown)
				}
				want(t, "dead", dead, map[stage]int{before: 0, after: 3, across: 3}[s])
			})
		})
	}
}

// The probing process calls nothing itself: the counter of calls shows only its own reads.
func TestProbeCallsNothingHere(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		s := m.session()
		h := m.openPvar(s, "demo_tool_calls", catalog.ClassCounter)
		calls := must(s.Read(h))(t).Int(0)
		for range 3 {
			trials, err := m.Probe(70, 40, ProbeOptions{TrialWrites: true})
			c := trials.Cvars
			if err != nil || len(c) != 70 {
				t.Fatal(err)
			}
		}
		want(t, "calls", must(s.Read(h))(t).Int(0), calls+1)
	})
}

func TestProbeFindsCrashes(t *testing.T) {
	actions := map[string]string{"crash": "crashes in %s (SIGSEGV)", "abort": "crashes in %s (SIGABRT)",
		"exit": "ends the process in %s", "die": "ends the process in %s"}
	testProbeFaults(t, actions)
}

func TestProbeFindsHangs(t *testing.T) {
	testProbeFaults(t, map[string]string{"hang": "timed out in %s", "spin": "timed out in %s"})
}

// testProbeFaults probes once, with one variable for each action at each place.
func testProbeFaults(t *testing.T, actions map[string]string) {
	cvars := []string{"int", "long", "short", "float", "double", "count", "aint", "byte", "offset", "c_bool", "int8_t", "uint64_t"}
	pvars := []string{"demo_link_state", "demo_link_busy", "demo_pool_peak", "demo_retries", "demo_tool_calls", "demo_balance",
		"demo_temperature", "demo_wait_time", "demo_last_error", "demo_pool_used"}
	var faults []string
	reasons := map[string]string{}
	for action, text := range actions {
		for place, step := range map[string]string{"get-info": "get_info", "alloc": "handle_alloc", "read": "read"} {
			name := "demo_type_" + cvars[0]
			cvars = cvars[1:]
			faults = append(faults, action+"-"+place+"="+name)
			reasons[name] = fmt.Sprintf(text, step)
		}
		for _, place := range []string{"start", "read"} {
			name := pvars[0]
			if place == "read" {
				name, pvars = pvars[len(pvars)-1], pvars[:len(pvars)-1]
			} else {
				pvars = pvars[1:]
			}
			faults = append(faults, action+"-"+place+"="+name)
			reasons[name] = fmt.Sprintf(text, place)
		}
	}
	// This process has the same faults as the children, so it uses only sound variables.
	child{stage: before, faults: strings.Join(faults, ";"), env: []string{"MPITX_TEST_REASONS=" + encode(reasons)}}.run(t, func(t *testing.T, m *mpi) {
		reasons := decode(t, "MPITX_TEST_REASONS")
		trials, err := m.Probe(70, 40, ProbeOptions{Limit: quick})
		c, p := trials.Cvars, trials.Pvars
		if err != nil {
			t.Fatal(err)
		}
		sound := map[int]bool{}
		for name, reason := range reasons {
			trials, index := c, 0
			if index, err = m.CvarIndex(name); err != nil {
				trials = p
				for class := catalog.ClassState; err != nil; class++ {
					index, err = m.PvarIndex(name, class)
				}
			} else {
				sound[index] = true
			}
			got := trials[index]
			if got.Reading.Status != catalog.StatusFaulty || got.Reading.Reason != reason || got.Dead {
				t.Errorf("%s: %+v, want %q", name, got, reason)
			}
			want(t, name+" has no name", got.Nameless, strings.Contains(reason, "get_info"))
		}
		for k := range c {
			if sound[k] {
				continue
			}
			if r := c[k].Reading; r.Status != catalog.StatusOK && r.Status != catalog.StatusUnbound {
				t.Errorf("control variable %d: %+v", k, r)
			}
		}
		want(t, "behind the faults", c[m.cvar("demo_checkpoint")].Reading.Value.String(), "0")
		want(t, "behind the faults", p[m.pvar("demo_pvar_uncategorised", catalog.ClassSize)].Reading.Value.String(), "42")
	})
}

func encode(texts map[string]string) string {
	var parts []string
	for k, v := range texts {
		parts = append(parts, k+"="+v)
	}
	return strings.Join(parts, "\n")
}

// A hang that does not repeat is not a fault.
func TestProbeTriesAgain(t *testing.T) {
	for _, fault := range []string{"hang-once-read", "hang-once-get-info", "hang-once-alloc", "lock-held"} {
		t.Run(fault, func(t *testing.T) {
			child{stage: before, faults: fault + "=demo_type_short"}.run(t, func(t *testing.T, m *mpi) {
				trials, err := m.Probe(70, 40, ProbeOptions{Limit: quick})
				c, p := trials.Cvars, trials.Pvars
				if err != nil {
					t.Fatal(err)
				}
				if fault == "lock-held" {
					want(t, "value", c[m.cvar("demo_type_short")].Reading.Value.String(), "-32768")
					want(t, "what comes next", c[m.cvar("demo_type_unsigned_short")].Reading.Value.String(), "65535")
					return
				}
				m.checkOthers(c, p, nil)
			})
		})
	}
}

func TestProbeSlowIsNotHanging(t *testing.T) {
	child{stage: before, faults: "slow-read=demo_type_*"}.run(t, func(t *testing.T, m *mpi) {
		trials, err := m.Probe(36, 0, ProbeOptions{Limit: 10 * time.Second})
		c := trials.Cvars
		if err != nil {
			t.Fatal(err)
		}
		want(t, "value", c[m.cvar("demo_type_int")].Reading.Value.String(), "-1")
	})
}

// After the total limit, items that were not reached are not reported as faulty.
func TestProbeTotalLimit(t *testing.T) {
	for fault, limit := range map[string]time.Duration{"hang-read": quick, "slow-read": 10 * time.Second} {
		t.Run(fault, func(t *testing.T) {
			child{stage: before, faults: fault}.run(t, func(t *testing.T, m *mpi) {
				begin := time.Now()
				trials, err := m.Probe(70, 40, ProbeOptions{Limit: limit, Total: 1500 * time.Millisecond})
				c, p := trials.Cvars, trials.Pvars
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
				counts := map[string]int{}
				for _, trial := range append(c, p...) {
					reason, _, _ := strings.Cut(trial.Reading.Reason, ":")
					switch trial.Reading.Status {
					case catalog.StatusOK:
						reason = "ok"
					case catalog.StatusUnbound:
						reason = "unbound"
					}
					if reason == "not tried" {
						want(t, "status", trial.Reading.Status, catalog.StatusError) // it may be sound
					}
					counts[reason]++
				}
				if counts["not tried"] < 60 {
					t.Errorf("%v", counts)
				}
				read := map[string]string{"hang-read": "timed out in read", "slow-read": "ok"}[fault]
				if counts[read] == 0 || counts[read]+counts["unbound"]+counts["not tried"] != len(c)+len(p) {
					t.Errorf("%v", counts)
				}
			})
		})
	}
}

func TestProbeEverythingCrashes(t *testing.T) {
	for fault, reason := range map[string]string{"crash-get-info": "crashes in get_info (SIGSEGV)", "crash-session": "crashes in handle_alloc (SIGSEGV)"} {
		t.Run(fault, func(t *testing.T) {
			child{stage: before, faults: fault}.run(t, func(t *testing.T, m *mpi) {
				all, err := m.Probe(70, 40, ProbeOptions{})
				c, p := all.Cvars, all.Pvars
				if err != nil {
					t.Fatal(err)
				}
				trials := p
				if fault == "crash-get-info" {
					trials = append(c, p...)
				}
				for k, trial := range trials {
					want(t, fmt.Sprint(k), trial.Reading.Reason, reason)
				}
			})
		})
	}
}

func TestProbeAnswers(t *testing.T) {
	const faults = "overrun=demo_type_*short;overrun=demo_type_char;overrun=demo_balance;huge-count=demo_type_int;negative-count=demo_type_long;" +
		"untouched-count=demo_type_float;zero-count=demo_type_double;unknown-type=demo_type_aint;fail-alloc=demo_type_byte;invalid-read=demo_type_count;" +
		"dies-info=demo_type_offset;dead-index=demo_type_c_bool;fail-get-info=demo_type_int8_t;unknown-bind=demo_type_int16_t;" +
		"invalid-start=demo_retries;start-required=demo_retries;unterminated-value=demo_unicode;dies-read=demo_type_uint8_t"
	child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) {
		clean := map[string]catalog.Reading{
			"demo_type_short":          {Status: catalog.StatusFaulty, Reason: "read writes past the end of the value", Count: 1},
			"demo_type_unsigned_short": {Status: catalog.StatusFaulty, Reason: "read writes past the end of the value", Count: 1},
			"demo_type_char":           {Status: catalog.StatusFaulty, Reason: "read writes past the end of the value", Count: 32},
			"demo_type_int":            {Status: catalog.StatusError, Reason: ErrBadCount.Error(), Count: 1 << 30},
			"demo_type_long":           {Status: catalog.StatusError, Reason: ErrBadCount.Error()},
			"demo_type_float":          {Status: catalog.StatusOK, Count: 1, Value: value(t, catalog.TypeFloat, 1, "0.1")},
			"demo_type_double":         {Status: catalog.StatusFaulty, Reason: "read writes past the end of the value"},
			"demo_type_aint":           {Status: catalog.StatusError, Reason: ErrUnknownType.Error(), Count: 1},
			"demo_type_byte":           {Status: catalog.StatusError, Reason: "handle_alloc: MPI error class 16"},
			"demo_type_count":          {Status: catalog.StatusError, Reason: "read: " + ErrInvalid.Error(), Count: 1},
			"demo_type_uint8_t":        {Status: catalog.StatusError, Reason: "read: " + ErrInvalidHandle.Error(), Count: 1},
			"demo_type_int8_t":         {Status: catalog.StatusError, Reason: "get_info: MPI error class 16"},
			"demo_type_int16_t":        {Status: catalog.StatusUnbound, Reason: "bound to an MPI object (unknown(17)) that mpitx does not have"},
			"demo_unicode":             {Status: catalog.StatusOK, Count: 64},
		}
		trials, err := m.Probe(70, 40, ProbeOptions{})
		c, p := trials.Cvars, trials.Pvars
		if err != nil {
			t.Fatal(err)
		}
		for name, wanted := range clean {
			got := c[m.cvar(name)].Reading
			if name == "demo_unicode" {
				want(t, "length of a value without end", len(got.Value.Text()), 64)
				got.Value = Value{}
			}
			want(t, name, got, wanted)
			want(t, name+" has no name", c[m.cvar(name)].Nameless, name == "demo_type_int8_t")
		}
		want(t, "dead between the calls", c[m.cvar("demo_type_offset")].Dead, true)
		want(t, "overrun of a performance variable", p[m.pvar("demo_balance", catalog.ClassGeneric)].Reading.Status, catalog.StatusFaulty)
		want(t, "start", p[m.pvar("demo_retries", catalog.ClassCounter)].Reading,
			catalog.Reading{Status: catalog.StatusError, Reason: "start: " + ErrInvalid.Error(), Count: 1})
		dead := 0
		for _, trial := range c {
			if trial.Dead {
				dead++
			}
		}
		want(t, "dead", dead, 2)
	})
}

func TestProbeObjects(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		limit, win := m.cvar("demo_comm_eager_limit"), m.cvar("demo_win_limit")
		for object, status := range map[Object]catalog.Status{NoObject: catalog.StatusUnbound, CommSelf: catalog.StatusOK, CommWorld: catalog.StatusOK} {
			c, p := m.probe(ProbeOptions{Object: object})
			want(t, "communicator", c[limit].Reading.Status, status)
			want(t, "communicator", p[m.pvar("demo_messages_sent", catalog.ClassCounter)].Reading.Status, status)
			want(t, "window", c[win].Reading, catalog.Reading{Status: catalog.StatusUnbound, Reason: "bound to an MPI object (win) that mpitx does not have"})
		}
	})
	t.Run("before", func(t *testing.T) {
		child{stage: before}.run(t, func(t *testing.T, m *mpi) {
			c, _ := m.probe(ProbeOptions{Object: CommWorld})
			want(t, "communicator", c[m.cvar("demo_comm_eager_limit")].Reading, catalog.Reading{Status: catalog.StatusUnbound, Reason: ErrNeedsInit.Error()})
		})
	})
}

func TestProbeOfNothing(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		trials, err := m.Probe(0, 0, ProbeOptions{})
		c, p := trials.Cvars, trials.Pvars
		if err != nil || len(c)+len(p) != 0 {
			t.Error(c, p, err)
		}
		trials, err = m.Probe(2, 0, ProbeOptions{Limit: time.Nanosecond, Total: 1000 * time.Hour})
		c, p = trials.Cvars, trials.Pvars
		if err != nil || len(c) != 2 || len(p) != 0 || c[0].Reading.Value.String() != "1.0" {
			t.Error(c, p, err)
		}
		// Indices beyond the last are dead.
		trials, err = m.Probe(72, 0, ProbeOptions{})
		c = trials.Cvars
		if err != nil || !c[70].Dead || !c[71].Dead || c[69].Dead {
			t.Error(err)
		}
	})
}

func TestTrialWrites(t *testing.T) {
	outcomes := map[stage]map[string]catalog.Writable{
		before: {"demo_lines": catalog.WritableYes, "demo_version": catalog.WritableNever, "demo_uptime": catalog.WritableNever,
			"demo_checkpoint": catalog.WritableNotNow, "demo_transport": catalog.WritableYes, "demo_eager_buffers": catalog.WritableYes,
			"demo_cost_model": catalog.WritableYes, "demo_param_files": catalog.WritableNever, "demo_comm_priority": catalog.WritableUnknown},
		after: {"demo_lines": catalog.WritableYes, "demo_version": catalog.WritableNever, "demo_checkpoint": catalog.WritableYes,
			"demo_transport": catalog.WritableNever, "demo_eager_buffers": catalog.WritableNotNow, "demo_comm_priority": catalog.WritableYes},
	}
	for s, wanted := range outcomes {
		t.Run(string(rune('0'+s)), func(t *testing.T) {
			child{stage: s, faults: "write-other"}.run(t, func(t *testing.T, m *mpi) {
				c, p := m.probe(ProbeOptions{Object: CommWorld, TrialWrites: true})
				for name, writable := range wanted {
					want(t, name, c[m.cvar(name)].Reading.Writable, writable)
				}
				m.checkOthers(c, p, nil)
				want(t, "what the children wrote", m.read("demo_uncategorised").String(), "3")
			})
		})
	}
}

func TestTrialWritesThatFail(t *testing.T) {
	reasons := map[string]string{"demo_lines": "crashes in write (SIGSEGV)", "demo_unicode": "crashes in write (SIGABRT)",
		"demo_undocumented": "ends the process in write", "demo_rail_weight": "timed out in write", "demo_type_int": "timed out in write"}
	child{stage: before, faults: "crash-write=demo_lines;abort-write=demo_unicode;exit-write=demo_undocumented;hang-write=demo_rail_weight;" +
		"spin-write=demo_type_int;invalid-write=demo_type_long;hang-once-write=demo_type_short;unterminated-value=demo_type_char"}.run(t, func(t *testing.T, m *mpi) {
		c, p := m.probe(ProbeOptions{TrialWrites: true, Limit: quick})
		none := maps.Clone(reasons)
		none["demo_type_char"] = "not terminated"
		m.checkOthers(c, p, none)
		for name, reason := range reasons {
			r := c[m.cvar(name)].Reading
			want(t, name+" is read", r.Status, catalog.StatusOK)
			want(t, name, r.Value, m.read(name))
			want(t, name, r.Writable, catalog.WritableUnknown)
			want(t, name, r.Reason, reason)
		}
		want(t, "refused", c[m.cvar("demo_type_long")].Reading.Writable, catalog.WritableUnknown)
		want(t, "hangs once", c[m.cvar("demo_type_short")].Reading.Writable, catalog.WritableYes)
		want(t, "without an end", c[m.cvar("demo_type_char")].Reading.Writable, catalog.WritableUnknown)
		want(t, "behind", c[m.cvar("demo_type_byte")].Reading.Writable, catalog.WritableYes)
	})
}

package ompiinfo

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"mpitx/catalog"
)

func real(t testing.TB) []byte { return recorded(t, "openmpi-4.1.4") }

func recorded(t testing.TB, release string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../fixtures/ompi_info/" + release + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The outputs of Debian's Open MPI, compared with what MPI_T shows of the same libraries.
func TestDebian(t *testing.T) {
	for _, test := range []struct {
		release             string
		cvars, pvars, enums int
		values              map[string]string
	}{
		{"openmpi-4.1.4", 861, 33, 256, map[string]string{"coll_han_priority": "0",
			"mca_component_path": "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3:/home/user/.openmpi/components"}},
		{"openmpi-5.0.7", 610, 33, 158, map[string]string{"coll_han_priority": "35", "btl_sm_eager_limit": "4096",
			"mca_component_path": "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi40:/home/user/.openmpi/components"}},
	} {
		t.Run(test.release, func(t *testing.T) {
			c, err := Read(bytes.NewReader(recorded(t, test.release)))
			if err != nil {
				t.Fatal(err)
			}
			live, err := catalog.Load("../../fixtures/snapshots/" + test.release + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Cvars) != test.cvars || len(c.Pvars) != test.pvars || len(c.Enums) != test.enums {
				t.Errorf("%d control variables, %d performance variables, %d enumerations", len(c.Cvars), len(c.Pvars), len(c.Enums))
			}
			if c.Library.Text != live.Library.Text || c.Library.Standard != live.Library.Standard || c.Library.Family != live.Library.Family {
				t.Errorf("%+v, want %+v", c.Library, live.Library)
			}
			likeLive(t, c, live)
			checkValues(t, c, map[string]string{"coll_tuned_bcast_algorithm": "ignore", "btl_tcp_flags": "send|put|need-ack|need-csum|inplace|hetero-rdma",
				"mpi_leave_pinned": "auto", "btl_vader_eager_limit": "4096", "pml": "^ucx", "coll_tuned_use_dynamic_rules": "false"})
			checkValues(t, c, test.values)
			if o := c.Cvar("pml").Origin; o == nil || o.Kind != catalog.OriginFile || o.Where != "/etc/openmpi/openmpi-mca-params.conf:69" {
				t.Errorf("origin of pml: %+v", o)
			}
			if o := c.Cvar("btl_tcp_flags").Origin; o != nil {
				t.Errorf("origin of btl_tcp_flags: %+v", o)
			}
		})
	}
}

// likeLive compares the metadata of all variables with those of MPI_T.
func likeLive(t *testing.T, c, live *catalog.Catalog) {
	t.Helper()
	for i := range c.Cvars {
		v := &c.Cvars[i]
		l := live.Cvar(v.Name)
		if l == nil {
			t.Errorf("%s: not in MPI_T", v.Name)
			continue
		}
		if v.Type != l.Type || v.Verbosity != l.Verbosity || v.Description != l.Description || (v.Enum != "") != (l.Enum != "") {
			t.Errorf("%s: %v %v %q %q, in MPI_T %v %v %q %q", v.Name, v.Type, v.Verbosity, v.Enum, v.Description, l.Type, l.Verbosity, l.Enum, l.Description)
		}
		if e := c.Enum(v.Enum); e != nil && (e.Flags != live.Enum(l.Enum).Flags || len(e.Items) != len(live.Enum(l.Enum).Items)) {
			t.Errorf("%s: %+v, in MPI_T %+v", v.Name, e, live.Enum(l.Enum))
		}
		if v.Before.Value.Type() != v.Type {
			t.Errorf("%s: value %q of type %v", v.Name, v.Before.Value, v.Before.Value.Type())
		}
	}
	for i := range c.Pvars {
		v := &c.Pvars[i]
		found := live.Lookup(v.ID())
		if len(found) != 1 {
			t.Errorf("%s: %d in MPI_T", v.ID(), len(found))
		} else if l := found[0]; v.Type != l.Type || v.Readonly != l.Readonly || v.Continuous != l.Continuous || v.Atomic != l.Atomic {
			t.Errorf("%s: %+v, in MPI_T %+v", v.ID(), v, l)
		}
	}
}

func checkValues(t *testing.T, c *catalog.Catalog, values map[string]string) {
	t.Helper()
	for name, want := range values {
		v := c.Cvar(name)
		if v == nil {
			t.Errorf("%s: missing", name)
		} else if got := v.Before.Value.Format(c.Enum(v.Enum)); got != want && !(strings.Contains(want, "|") && len(got) == len(want)) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Wherever the output is cut off inside of a variable, the error says so.
func TestCutOff(t *testing.T) {
	text := real(t)
	text = append(bytes.Clone(text[:500]), text[bytes.Index(text, []byte("mca:coll:tuned:param:")):]...)
	start := bytes.Index(text, []byte("mca:coll:tuned:param:coll_tuned_bcast_algorithm:"))
	end := bytes.Index(text, []byte("mca:coll:tuned:param:coll_tuned_bcast_algorithm_segmentsize:"))
	for n := start + len("mca:coll:tuned:param:c"); n < end; n += 97 {
		_, err := Read(bytes.NewReader(text[:n]))
		if err == nil || !strings.Contains(err.Error(), "cut off in line ") || !strings.Contains(err.Error(), "record it again with ompi_info --parsable --all >FILE") {
			t.Fatalf("cut off at %q: %v", text[max(0, n-20):n], err)
		}
	}
}

// An output that is cut off between two variables lacks frameworks that its list of components has. Within the last framework nothing
// shows it.
func TestCutOffBetween(t *testing.T) {
	text := real(t)
	const end = ":disabled:false\n" // the last line of a variable
	at := bytes.Index(text, []byte("mca:mca:base:param:"))
	last := bytes.Index(text, []byte("mca:vprotocol:base:param:vprotocol:"))
	for n := 0; ; n++ {
		at += bytes.Index(text[at:], []byte(end)) + len(end)
		if at > last {
			break
		}
		if n%50 != 0 && at != last {
			continue
		}
		if _, err := Read(bytes.NewReader(text[:at])); err == nil || !strings.Contains(err.Error(), "it lists components of vprotocol, but none of its variables") {
			t.Fatalf("cut off after %q: %v", text[at-60:at], err)
		}
	}
	// Filtered by level or framework, it is not cut off.
	some := append(bytes.Clone(text[:500]), text[bytes.Index(text, []byte("mca:coll:tuned:param:")):bytes.Index(text, []byte("mca:crcp:"))]...)
	if _, err := Read(bytes.NewReader(some)); err != nil {
		t.Errorf("one framework: %v", err)
	}
}

func TestUnusable(t *testing.T) {
	for text, want := range map[string]string{
		"":    "the file is empty",
		" \n": "the file is empty",
		"                 Package: Debian OpenMPI\n                Open MPI: 4.1.4\n": "for people",
		"package:Debian OpenMPI\nompi:version:full:4.1.4\n":                           "has no variables",
		"hello\n": "not the output of ompi_info",
		"mca:a:b:param:x:value:1\nmca:a:b:param:y:value:1\nmca:a:b:param:y:type:int\n": "no type for the variable x, line 1",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Names and values with colons, descriptions of several lines, CRLF, and levels that were not asked for.
func TestOddLines(t *testing.T) {
	c, err := Read(strings.NewReader(strings.ReplaceAll(`package:x
mca:btl:tcp:param:btl_tcp_latency_eth0:0:value:4
mca:btl:tcp:param:btl_tcp_latency_eth0:0:level:5
mca:btl:tcp:param:btl_tcp_latency_eth0:0:help:first: value:1
second line
mca:btl:tcp:param:btl_tcp_latency_eth0:0:type:int
mca:btl:tcp:param:list:value:"a:b"
mca:btl:tcp:param:list:source:environment
mca:btl:tcp:param:list:type:string
mca:btl:tcp:param:odd:value:many
mca:btl:tcp:param:odd:type:int
`, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	v := c.Cvar("btl_tcp_latency_eth0:0")
	if v == nil || v.Description != "first: value:1\nsecond line" || v.Before.Value.String() != "4" {
		t.Fatalf("%+v", v)
	}
	if l := c.Cvar("list"); l.Before.Value.Text() != "a:b" || l.Origin.Kind != catalog.OriginEnvironment {
		t.Errorf("%+v", l)
	}
	if v := c.Cvar("odd"); v.Before.Value.Text() != "many" {
		t.Errorf("%+v", v)
	}
	if !strings.Contains(c.Before.Error, "up to level 5 only") {
		t.Error(c.Before.Error)
	}
}

// Whatever is read, the catalog can be written, unless it has the same name twice.
func FuzzRead(f *testing.F) {
	text := real(f)
	start := bytes.Index(text, []byte("mca:coll:tuned:param:"))
	f.Add(text[:3000])
	f.Add(append(bytes.Clone(text[:300]), text[start:start+6000]...))
	f.Add([]byte("mca:a:b:pvar:x:class:size\nmca:a:b:pvar:x:type:int\nmca:a:b:param:x:enumerator:value:1:a\nmca:a:b:param:x:type:int\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if err := catalog.Write(new(bytes.Buffer), c); err != nil {
			t.Error(err)
		}
	})
}

// Some tools write a byte order mark at the start of a file.
func TestMark(t *testing.T) {
	text := append([]byte("\ufeff"), real(t)...)
	if !Recognize(text[:100]) {
		t.Error("not recognized")
	}
	if c, err := Read(bytes.NewReader(text)); err != nil || c.Library.Text == "" || len(c.Cvars) != 861 {
		t.Errorf("%v, %+v", err, c)
	} else if want, _ := Read(bytes.NewReader(real(t))); c.Library != want.Library {
		t.Errorf("%+v, want %+v", c.Library, want.Library)
	}
}

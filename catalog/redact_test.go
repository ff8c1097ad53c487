package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func redactTest() *redactor {
	r := &redactor{words: map[string]string{}}
	for _, h := range []string{"node17.cluster.example.org", "node18", "10.1.2.3", "vm", "localhost", "self"} {
		r.host(h)
	}
	r.user("alice")
	r.user("root")
	r.user("x42user")
	return r
}

func TestRedactData(t *testing.T) {
	r := redactTest()
	for in, want := range map[string]string{
		"/home/alice/.openmpi/mca-params.conf,/etc/openmpi/openmpi-mca-params.conf": "<path>,<path>",
		"/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3:/home/alice/.openmpi/comp":  "<path>:<path>",
		"~/x:~alice/y/z":                 "<path>:<path>",
		"/home/alice/my project/a b/c d": "<path> d",
		"/dev/shm":                       "<path>",
		"/":                              "/",
		"CPPFLAGS=-I/home/alice/i LDFLAGS='-L/home/x/lib' LIBS=\"-L/opt/y -lz\" CC='gcc -Wl,-L/srv/l,-R/srv/r'": "CPPFLAGS=-I<path> LDFLAGS='-L<path>' LIBS=\"-L<path> -lz\" CC='gcc -Wl,-L<path>,-R<path>'",
		"CFLAGS='-g -I/usr/include -I/opt/x/inc -L/a' --prefix=/usr --disable-aio":                              "CFLAGS='-g -I<path> -I<path> -L<path>' --prefix=<path> --disable-aio",
		"-ffile-prefix-map=/build/openmpi-D4V3L2/openmpi-4.1.4=. -O2":                                           "-ffile-prefix-map=<path> -O2",
		"3133276160.0;tcp://10.1.2.9,172.17.0.1:45611":                                                          "3133276160.0;tcp://<address>",
		"pmix-server.12;tcp4://127.0.0.1:1234":                                                                  "pmix-server.12;tcp4://<address>",
		"file:///home/alice/x y":                                                                                "file://<address> y",
		"10.0.0.0/8;172.16.0.0/12;192.168.0.0/16;169.254.0.0/16":                                                "10.0.0.0/8;172.16.0.0/12;192.168.0.0/16;169.254.0.0/16",
		"127.0.0.1/8,sppp":                      "127.0.0.1/8,sppp",
		"192.168.7.0/24,eth0":                   "<ip>/24,eth0",
		"8.8.4.4:80 and 9.9.9.9.":               "<ip>:80 and <ip>.",
		"v1.2.3.4 4.1.4 1.2.3.4.5 2.10":         "v1.2.3.4 4.1.4 1.2.3.4.5 2.10",
		"fe80::1ff:fe23:4567:890a%eth0":         "<ip>",
		"tcp6:fe80::12,::1,::":                  "tcp6:<ip>,::1,::",
		"00:1b:63:84:45:e6":                     "<mac>",
		"0:1:2:3:4:5:6:7":                       "0:1:2:3:4:5:6:7",
		"12:30:45 std::string a::b":             "12:30:45 std::string <ip>",
		"10.1.2.3":                              "<ip>",
		"NODE17.cluster.example.org:2,node18:4": "host0:2,host1:4",
		"node17,node170,xnode17,node17-ib":      "host0,node170,xnode17,host0-ib",
		"prterun-node18-1234@1":                 "prterun-host1-1234@1",
		"ompi.node17.1000":                      "ompi.host0.1000",
		"novm vm vm1":                           "novm host3 vm1",
		"alice@node17":                          "<user>@<host>",
		"alice,root,self":                       "user0,root,self",
		"^tcp,ofi":                              "^tcp,ofi",
		"ssh : rsh":                             "ssh : rsh",
		"a/b and/or n/a 1/2 I/O":                "a/b and/or n/a 1/2 I/O",
		"$HOME/x ${prefix}/share":               "$HOME/x ${prefix}/share",
		`C:\Users\alice\x`:                      "<path>",
		"GenuineIntel":                          "GenuineIntel",
		"6,7,8,11":                              "6,7,8,11",
		"\xff/home/alice\xfe":                   "\xff<path>",
		"":                                      "",
	} {
		if got := r.text(in, dataText); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestRedactProse(t *testing.T) {
	r := redactTest()
	for in, want := range map[string]string{
		"Path to files (default: /apps/site/openmpi/etc), or /etc/openmpi/x.conf; and/or I/O": "Path to files (default: <path>), or /etc/openmpi/x.conf; and/or I/O",
		"Whether to start a vm for alice, the root rank":                                      "Whether to start a vm for alice, the root rank",
		"Built on node17 for x42user":                                                         "Built on host0 for x42user",
		"See https://www.open-mpi.org/faq/ or tcp://host:port":                                "See https://www.open-mpi.org/faq/ or tcp://host:port",
		"Open MPI v4.1.4, package: Open MPI bob@builder Distribution, ident: 4.1.4":           "Open MPI v4.1.4, package: Open MPI <user>@<host> Distribution, ident: 4.1.4",
		"CIDR notation, e.g. 10.0.0.0/8 or 192.168.1.0/24":                                    "CIDR notation, e.g. 10.0.0.0/8 or 192.168.1.0/24",
	} {
		want = strings.ReplaceAll(want, "for x42user", "for user1")
		if got := r.text(in, proseText); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestRedactCatalog(t *testing.T) {
	read := func(s string) *Reading { return &Reading{Status: StatusOK, Value: NewText(s), Count: 99} }
	c := &Catalog{
		Library: Library{Text: "x", Path: "/home/carol/lib/libmpi.so.40"},
		Job: Job{Size: 3, Ranks: []Rank{{Rank: 0, Host: "alpha1.site"}, {Rank: 1, Host: "beta", Library: &Library{Path: "/x/libmpi.so"}},
			{Rank: 2, Host: "alpha1.site", Error: "alpha1 hangs"}}},
		Before: Stage{Error: "carol may not read /etc/x"},
		Lists: Lists{Cvars: []Variable{
			{Name: "a", Type: TypeChar, Before: read("carol"), After: read("gamma,beta"),
				Ranks:  []RankReading{{1, *read("beta")}},
				Nodes:  []RankReading{{1, Reading{Status: StatusFaulty, Reason: "in /usr/lib/x.so"}}},
				Origin: &Origin{OriginFile, "/home/carol/.openmpi/mca-params.conf", "alpha1"}},
			{Name: "built", Type: TypeChar, After: read("'CPPFLAGS=-I/home/denise/inc' 'LDFLAGS=-L/var/home/erwin/lib' for denise, erwin and fritz"),
				Before: read("~fritz/x")},
			{Name: "b", Type: unknownBase + 5, After: &Reading{Status: StatusOK, Value: NewValue(unknownBase+5, []byte("on beta"))}},
			{Name: "c", Type: TypeByte, After: &Reading{Status: StatusOK, Value: NewValue(TypeByte, []byte{1, 2, 3, 4})}},
		},
			Events:  []Event{{Name: "e", Reason: "crashes on beta", Hints: []Hint{{"file", "/home/carol/x"}}, Description: "of alice@gamma"}},
			Sources: []Source{{Name: "s", Reason: "on alpha1", Hints: []Hint{{"host", "beta"}}, Description: "see /x/y/z"}},
		},
	}
	Redact(c, Private{Hosts: []string{"gamma"}})
	doc := write(t, c)
	for _, secret := range []string{"alpha", "beta", "gamma", "carol", "denise", "erwin", "fritz", "/etc", "/usr", "/x/", "site", "beta"} {
		if strings.Contains(doc, secret) {
			t.Errorf("%q is still there", secret)
		}
	}
	if d := cmp.Diff([]Rank{{Rank: 0, Host: "host0"}, {Rank: 1, Host: "host1", Library: &Library{Path: "<path>/libmpi.so"}},
		{Rank: 2, Host: "host0", Error: "host0 hangs"}}, c.Job.Ranks); d != "" {
		t.Error(d)
	}
	if got := c.Cvars[0].After.Value.Text(); got != "host2,host1" {
		t.Error(got)
	}
	if got := c.Cvars[2].After.Value.String(); got != "0x00000000000000" {
		t.Error(got)
	}
	if got := c.Cvars[3].After.Value.String(); got != "1,2,3,4" {
		t.Error(got)
	}
	if e, s := c.Events[0], c.Sources[0]; e.Name != "e" || e.Reason != "crashes on host1" || e.Hints[0] != (Hint{"file", "<path>"}) || s.Hints[0].Value != "host1" {
		t.Errorf("%+v %+v", e, s)
	}
	if c.Cvars[0].Origin.Where != "<path>" || c.Cvars[0].Before.Value.Text() != "user0" {
		t.Errorf("%+v", c.Cvars[0])
	}
}

func TestRedactKeepsOrdinary(t *testing.T) {
	c, want := sampleCatalog(), sampleCatalog()
	Redact(c)
	for i := range want.Job.Ranks[:2] {
		want.Job.Ranks[i].Host = "host0"
	}
	want.Library.Path = "<path>/libmpi.so.40"
	if d := cmp.Diff(want, c, compareValues); d != "" {
		t.Error(d)
	}
}

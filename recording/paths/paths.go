package paths

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"mpitx/recording"
	"mpitx/text"
)

// Path is what two processes reached each other by, in both directions. A process has a path to itself.
type Path struct {
	A        int       `json:"rank_a"` // ranks; A <= B
	B        int       `json:"rank_b"`
	HostA    string    `json:"host_a"`
	HostB    string    `json:"host_b"`
	OneNode  bool      `json:"one_node"`
	Carriers []Carrier `json:"carriers"`          // none: unknown
	Unknown  string    `json:"unknown,omitempty"` // why
	Copies   Copies    `json:"single_copies"`
	Sockets  Sockets   `json:"tcp"`
	Faster   string    `json:"faster_interface,omitempty"` // that both nodes have, with its speed: "ib0 (100 Gbit/s)"
	Evidence []string  `json:"evidence"`

	CopiesFollowed bool `json:"-"` // single copies of both ranks would have been seen, if there were any

	Operations uint64 `json:"ucx_operations"` // that were given to UCX, of any call
	Messages   uint64 `json:"messages"`       // point-to-point messages of the program
	Bytes      uint64 `json:"bytes"`
}

// Carrier is a transport, as the MPI library or UCX names it.
type Carrier struct {
	Layer     Layer  `json:"layer"`
	Transport string `json:"transport"`                   // "vader", "tcp", "sysv"
	Device    string `json:"device,omitempty"`            // "eth0", "mlx5_0:1"
	Use       Use    `json:"use"`                         // of which messages
	Limit     uint64 `json:"eager_limit_bytes,omitempty"` // up to which messages are sent without asking the receiver, where the library's table says it
}

// Layer is the part of the software that chooses transports.
type Layer string

// The layers.
const (
	BTL     Layer = "BTL"     // Open MPI's byte transfer layer, below its PML ob1
	MTL     Layer = "MTL"     // Open MPI's matching transport layer, below its PML cm
	UCX     Layer = "UCX"     // below Open MPI's PML ucx, or MPICH
	Library Layer = "library" // the MPI library itself
	Kernel  Layer = "kernel"  // known from TCP connections only
)

// Use says which messages a transport carries.
type Use string

// The uses.
const (
	All   Use = "all"
	Small Use = "small"
	Large Use = "large"
)

// Copies are what one process copied from or to the other's memory by one system call (process_vm_readv, process_vm_writev).
type Copies struct {
	Calls  uint64 `json:"calls"`
	Bytes  uint64 `json:"bytes"`
	Failed uint64 `json:"failed"`
	Error  string `json:"error,omitempty"` // of the first that failed
}

// Sockets are the TCP connections between the processes.
type Sockets struct {
	Count         int      `json:"connections"`
	Bytes         uint64   `json:"bytes"` // that arrived, in both directions
	Segments      uint64   `json:"segments"`
	Retransmitted uint64   `json:"retransmitted_segments"`
	Interfaces    []string `json:"interfaces,omitempty"` // of the connections' own addresses
}

// Text says what carried the messages, without devices: "vader", "UCX sysv, large messages cma"; "unknown".
func (p *Path) Text() string {
	var all, large []string
	layer := Layer("")
	for _, c := range p.Carriers {
		layer = c.Layer
		list := &all
		if c.Use == Large {
			list = &large
		}
		if !slices.Contains(*list, c.Transport) {
			*list = append(*list, c.Transport)
		}
	}
	if len(p.Carriers) == 0 {
		return "unknown"
	}
	out := strings.Join(all, ", ")
	if len(large) > 0 {
		out += ", large messages " + strings.Join(large, ", ")
	}
	switch layer {
	case UCX, BTL, MTL:
		return string(layer) + " " + out
	case Library:
		return out + " of the library"
	}
	return out
}

// Devices are the devices of the path: of its transports, and the interfaces of its TCP connections.
func (p *Path) Devices() (names []string) {
	for _, c := range p.Carriers {
		if c.Device != "" {
			names = append(names, c.Device)
		}
	}
	if len(names) == 0 {
		names = append(names, p.Sockets.Interfaces...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Over reports whether a transport of this name carries messages.
func (p *Path) Over(transport string) bool {
	return slices.ContainsFunc(p.Carriers, func(c Carrier) bool { return c.Transport == transport })
}

// builder finds the paths of a run.
type builder struct {
	processes []*process
	byRank    map[int]*process
	byWorker  map[uint64]*process // of UCX
	paths     map[[2]int]*Path
}

// Paths finds the paths of a run: those that were used or prepared. traffic adds the messages of the program; nil: none are known.
func (r *Reader) Paths(run *recording.Run, traffic func(add func(a, b int, messages, bytes uint64))) []*Path {
	if !Recorded(run) {
		return nil
	}
	b := &builder{processes: r.processes, byRank: map[int]*process{}, byWorker: map[uint64]*process{}, paths: map[[2]int]*Path{}}
	for _, p := range b.processes {
		b.byRank[p.Rank.Rank] = p
	}
	for _, p := range b.processes {
		for _, w := range p.seen["worker"] {
			b.byWorker[w.ID] = p
		}
	}
	hosts := map[int]*recording.Rank{}
	for _, r := range run.Ranks {
		hosts[r.Rank] = r
	}
	for _, p := range b.processes {
		b.btls(p)
		b.endpoints(p)
		b.copies(p)
	}
	b.sockets()
	traffic(func(x, y int, messages, bytes uint64) {
		path := b.path(x, y)
		path.Messages += messages
		path.Bytes += bytes
	})
	for _, path := range b.paths {
		x, y := hosts[path.A], hosts[path.B]
		if x != nil {
			path.HostA = x.Host
		}
		if y != nil {
			path.HostB = y.Host
		}
		path.OneNode = x != nil && y != nil && x.Node == y.Node
		b.finish(path, x, y)
	}
	return slices.SortedFunc(maps.Values(b.paths), func(x, y *Path) int { return cmp.Or(x.A-y.A, x.B-y.B) })
}

func (b *builder) path(x, y int) *Path {
	key := [2]int{min(x, y), max(x, y)}
	if b.paths[key] == nil {
		b.paths[key] = &Path{A: key[0], B: key[1]}
	}
	return b.paths[key]
}

func (p *Path) carry(c Carrier) {
	for i := range p.Carriers {
		if has := &p.Carriers[i]; has.Layer == c.Layer && has.Transport == c.Transport && has.Device == c.Device {
			if has.Use != c.Use {
				has.Use = All
			}
			return
		}
	}
	p.Carriers = append(p.Carriers, c)
}

func (p *Path) because(format string, of ...any) {
	if text := fmt.Sprintf(format, of...); !slices.Contains(p.Evidence, text) {
		p.Evidence = append(p.Evidence, text)
	}
}

// ---- Open MPI's tables ----

// btls are the BTL components in the tables of a process, which only the PML ob1 uses. Small messages use those for eager ones, and larger ones
// those for sending.
func (b *builder) btls(p *process) {
	if !p.has("pml", "ob1") {
		return
	}
	for _, part := range []struct {
		kind string
		use  Use
	}{{"eager", Small}, {"send", Large}} {
		for _, s := range p.seen[part.kind] {
			path := b.path(p.Rank.Rank, s.Rank+p.first())
			path.carry(Carrier{Layer: BTL, Transport: s.Name, Use: part.use, Limit: s.Code})
			path.because("Open MPI's table of BTL components for the process has %s", s.Name)
		}
	}
}

// ---- UCX ----

func (b *builder) endpoints(p *process) {
	for _, s := range p.seen["endpoint"] {
		other := b.byWorker[s.Peer]
		if other == nil {
			continue
		}
		path := b.path(p.Rank.Rank, other.Rank.Rank)
		path.Operations += s.Count
		for _, c := range lanes(s.Name) {
			path.carry(c)
			path.because("UCX's endpoint has a lane of %s for %s messages", joined(c.Transport, "/", c.Device), c.Use)
		}
	}
}

func joined(a, by, b string) string {
	if b == "" {
		return a
	}
	return a + by + b
}

// lanes reads the lanes that carry messages from UCX's description of an endpoint:
//
//	lane[0]:  3:sysv/memory.0 md[2]           -> md[2]/sysv/sysdev[255] am am_bw#0
func lanes(description string) (all []Carrier) {
	var small, large []Carrier
	limit := eagerLimit(description)
	eager := strings.Contains(description, "tag_send:") && limit == 0 // all messages are: UCX_RNDV_THRESH=inf
	for line := range strings.Lines(description) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.HasPrefix(words[0], "lane[") {
			continue
		}
		_, resource, _ := strings.Cut(words[1], ":")
		transport, device, _ := strings.Cut(resource, "/")
		if i := strings.LastIndex(device, "."); i >= 0 {
			device = device[:i]
		}
		if device == "memory" || device == "memory0" {
			device = ""
		}
		c := Carrier{Layer: UCX, Transport: transport, Device: device, Limit: limit}
		for _, role := range words[2:] {
			switch name, _, _ := strings.Cut(role, "#"); name {
			case "am", "tag":
				small = append(small, c)
			case "am_bw", "rma_bw":
				if !eager {
					large = append(large, c)
				}
			}
		}
	}
	same := func(list []Carrier, c Carrier) bool {
		return slices.ContainsFunc(list, func(x Carrier) bool { return x.Transport == c.Transport && x.Device == c.Device })
	}
	onlyLarge := slices.ContainsFunc(large, func(c Carrier) bool { return !same(small, c) })
	for _, c := range small {
		if c.Use = All; onlyLarge {
			c.Use = Small
		}
		if !same(all, c) {
			all = append(all, c)
		}
	}
	for _, c := range large {
		if c.Use = Large; !same(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// eagerLimit reads from UCX's description up to how many bytes messages are sent without asking the receiver; 0: it does not say.
//
//	tag_send: 0..<egr/short>..93..<egr/bcopy>..8256..<rndv>..(inf)
func eagerLimit(description string) (limit uint64) {
	_, line, ok := strings.Cut(description, "tag_send:")
	if !ok {
		return 0
	}
	line, _, _ = strings.Cut(line, "\n")
	before, _, ok := strings.Cut(line, "<rndv>")
	parts := strings.Split(strings.Trim(before, ". "), "..")
	if !ok || len(parts) == 0 {
		return 0
	}
	fmt.Sscan(parts[len(parts)-1], &limit)
	return limit
}

// ---- single copies ----

// copies are between processes of one node and one namespace of process IDs.
func (b *builder) copies(p *process) {
	for _, kind := range []string{"read", "write"} { // in this order in the evidence
		for _, s := range p.seen[kind] {
			for _, other := range b.processes {
				if uint64(other.PID) != s.Peer || other.Node != p.Node || other.namespace() != p.namespace() || p.namespace() == "" {
					continue
				}
				path := b.path(p.Rank.Rank, other.Rank.Rank)
				path.Copies.Calls += s.Count
				path.Copies.Bytes += s.Bytes + s.Received
				if path.Copies.Failed += s.Failed; s.Failed > 0 && path.Copies.Error == "" {
					path.Copies.Error = syscall.Errno(s.Code).Error()
				}
				path.because("rank %d called process_vm_%sv", p.Rank.Rank, kind)
			}
		}
	}
}

// ---- TCP ----

// sockets matches connections with those of other processes: both ends are recorded.
func (b *builder) sockets() {
	type end struct {
		p *process
		s seen
	}
	ends := map[string]end{}
	for _, p := range b.processes {
		for _, s := range p.seen["socket"] {
			if words := strings.Fields(s.Name); len(words) == 3 {
				ends[words[0]+" "+words[1]] = end{p, s}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		e := ends[name]
		own, peer, _ := strings.Cut(name, " ")
		other, ok := ends[peer+" "+own]
		if !ok || other.p == e.p {
			continue
		}
		path := b.path(e.p.Rank.Rank, other.p.Rank.Rank)
		path.Sockets.Bytes += e.s.Received
		path.Sockets.Segments += e.s.Count
		path.Sockets.Retransmitted += e.s.Failed
		if i := strings.Fields(e.s.Name)[2]; !slices.Contains(path.Sockets.Interfaces, i) {
			path.Sockets.Interfaces = append(path.Sockets.Interfaces, i)
		}
		if own < peer {
			path.Sockets.Count++
			path.because("a TCP connection of %s and %s", own, peer)
		}
	}
}

// ---- conclusions ----

func (b *builder) finish(path *Path, x, y *recording.Rank) {
	slices.Sort(path.Sockets.Interfaces)
	p, q := b.byRank[path.A], b.byRank[path.B]
	path.CopiesFollowed = p.followsCopies() && q.followsCopies()
	if p != nil && q != nil && !path.OneNode {
		path.Faster = faster(p, q, path.Sockets.Interfaces)
	}
	if len(path.Carriers) > 0 {
		return
	}
	switch {
	case x == nil || y == nil:
		path.Unknown = "a rank is not in the run"
	case p == nil && x.State == recording.StateRunning, q == nil && y.State == recording.StateRunning:
		path.Unknown = "the job is still running"
	case path.Sockets.Bytes > 0:
		path.carry(Carrier{Layer: Kernel, Transport: "tcp", Use: All})
	case p.has("end", "restricted") || q.has("end", "restricted"):
		path.Unknown = "a rank has restricted its system calls, so that it was not asked"
	case !p.has("end", "finalize") || !q.has("end", "finalize"):
		path.Unknown = "a rank ended without MPI_Finalize"
	case len(p.seen["mtl"]) > 0:
		path.carry(Carrier{Layer: MTL, Transport: p.seen["mtl"][0].Name, Use: All})
		path.because("Open MPI has chosen this MTL component for all processes")
	case path.A == path.B:
		path.Unknown = "no operation of the rank with itself was seen"
	case path.Operations == 0 && p.usesUCX() && q.usesUCX() && b.shares(p, q):
		path.carry(Carrier{Layer: Library, Transport: "shared memory", Use: All})
		path.because("UCX got no operation for the process, and both ranks have mapped the same memory")
	case p.has("pml", "ob1"):
		path.Unknown = "Open MPI's tables were not understood"
	case len(p.seen["pml"]) == 1:
		path.Unknown = "the PML component " + text.Quote(p.seen["pml"][0].Name) + " shows nothing"
	case b.shares(p, q):
		path.Unknown = "both ranks have mapped the same memory, but nothing shows whether messages went through it"
	default:
		path.Unknown = "the library shows nothing: it is linked with its transports, or uses libfabric"
	}
}

func (p *process) has(kind, name string) bool {
	return p != nil && slices.ContainsFunc(p.seen[kind], func(s seen) bool { return s.Name == name })
}

// first is the number in the run of rank 0 of the process's MPI_COMM_WORLD.
func (p *process) first() int { return p.Spawned.First }

func (p *process) namespace() string {
	if all := p.seen["process"]; len(all) > 0 {
		return all[0].Name
	}
	return ""
}

func (p *process) usesUCX() bool { return p != nil && len(p.seen["endpoint"]) > 0 }

// followsCopies reports whether the process's copies were counted, and no device copies instead of the calls that are counted.
func (p *process) followsCopies() bool {
	return p.has("follows", "process_vm_readv") && len(p.seen["device"]) == 0 && p.has("end", "finalize")
}

// faster finds an interface that both processes have, and that is at least twice as fast as those that they used.
func faster(p, q *process, used []string) string {
	speed := func(p *process, name string) uint64 {
		for _, s := range p.seen["interface"] {
			if s.Name == name {
				return s.Code
			}
		}
		return 0
	}
	most := uint64(0)
	for _, name := range used {
		if speed(p, name) == 0 || speed(q, name) == 0 {
			return ""
		}
		most = max(most, speed(p, name), speed(q, name))
	}
	for _, s := range p.seen["interface"] {
		if most > 0 && !slices.Contains(used, s.Name) && min(s.Code, speed(q, s.Name)) >= 2*most {
			return fmt.Sprintf("%s (%g Gbit/s)", s.Name, float64(min(s.Code, speed(q, s.Name)))/1000)
		}
	}
	return ""
}

// shares reports whether two processes of a node have mapped the same memory.
func (b *builder) shares(p, q *process) bool {
	if p == nil || q == nil || p.Node != q.Node {
		return false
	}
	for _, s := range p.seen["memory"] {
		if slices.ContainsFunc(q.seen["memory"], func(t seen) bool { return s.ID == t.ID && s.Peer == t.Peer && s.Name == t.Name }) {
			return true
		}
	}
	return false
}

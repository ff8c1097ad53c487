package virtual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mpitx/catalog"
)

// nodeDefinition is an entry of the agent's table of the node's variables (agent/node/names.h).
type nodeDefinition struct {
	name        string
	class       catalog.Class
	unit        string // "": the one of its class
	description string
}

// variable is one of an interface or port; "" is the process.
func (d *nodeDefinition) variable(of string) catalog.Variable {
	v := (&definition{name: of + d.name, class: d.class, description: d.description}).variable()
	if d.unit != "" {
		v.Unit = d.unit
	}
	return v
}

// Node are the variables of the node, as far as this machine's interfaces have them: those of a job's nodes may be others.
func Node() []catalog.Variable {
	return node("/")
}

func ofEachProcess() (all []catalog.Variable) {
	for i := range ofProcess {
		all = append(all, ofProcess[i].variable(""))
	}
	return all
}

func node(root string) []catalog.Variable {
	all := ofEachProcess()
	text, _ := os.ReadFile(filepath.Join(root, "proc/net/dev"))
	for line := range strings.Lines(string(text)) {
		if k := strings.LastIndexByte(line, ':'); k >= 0 {
			all = append(all, ofNetwork(escape(strings.TrimLeft(line[:k], " ")), ofInterface)...)
		}
	}
	ports, _ := filepath.Glob(filepath.Join(root, "sys/class/infiniband/*/ports/*"))
	for _, p := range ports {
		device := filepath.Base(filepath.Dir(filepath.Dir(p)))
		all = append(all, ofNetwork(fmt.Sprintf("ib/%s/%s", device, filepath.Base(p)), ofPort)...)
	}
	return sorted(all)
}

func ofNetwork(name string, definitions []nodeDefinition) (all []catalog.Variable) {
	for i := range definitions {
		all = append(all, definitions[i].variable("net/"+name+"/"))
	}
	return all
}

// escape writes the name of an interface as the agent does (write_name in interfaces.c).
func escape(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z' || strings.IndexByte("._-+=", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// NamedLike are the variables that the interface in a glob would have: those of a job's nodes are not known here.
func NamedLike(glob string) (all []catalog.Variable) {
	rest, net := strings.CutPrefix(glob, Prefix+"net/")
	k := strings.LastIndexByte(rest, '/')
	switch {
	case !net || k < 0:
		return nil
	case strings.HasPrefix(rest, "ib/"):
		return ofNetwork(rest[:k], ofPort)
	}
	return ofNetwork(rest[:k], ofInterface)
}

//go:build cgo && linux

package inspect

import (
	"cmp"
	"errors"
	"fmt"

	"mpitx/binding"
	"mpitx/catalog"
)

var queueScopes = map[binding.PeruseScope]string{binding.PerusePerComm: "communicator", binding.PerusePerTag: "tag",
	binding.PerusePerSource: "source", binding.PeruseGlobal: "global"}

// peruse reads the events of PERUSE that the library raises, and the environment variables that it names. A library without PERUSE
// has none, and none exist before MPI_Init.
func (o *observer) peruse(lib *binding.Library, p *catalog.Process) {
	peruse, err := lib.InitPeruse()
	if errors.Is(err, binding.ErrNotProvided) || errors.Is(err, binding.ErrPeruseMPIInit) {
		return
	}
	if err != nil {
		o.notes.add("PERUSE_Init: %v", err)
		return
	}
	events, err := peruse.SupportedEvents()
	if err != nil {
		o.notes.add("PERUSE_Query_supported_events: %v", err)
	}
	scope, err := peruse.QueueEventScope()
	if err != nil {
		o.notes.add("PERUSE_Query_queue_event_scope: %v", err)
	}
	words := ""
	if err == nil {
		words = cmp.Or(queueScopes[scope], fmt.Sprintf("unknown(%d)", scope))
	}
	seen := map[string]bool{}
	for _, e := range p.Meta.Events {
		seen[e.Name] = true
	}
	for _, e := range events {
		if seen[e.Name] {
			o.notes.add("event %s is listed twice", e.Name)
			continue
		}
		seen[e.Name] = true
		p.Meta.Events = append(p.Meta.Events, catalog.NativePeruseEvent(e.Name, words))
	}
	if p.Stage.Environment, err = peruse.Environment(); err != nil {
		o.notes.add("PERUSE_Query_environment: %v", err)
	}
}

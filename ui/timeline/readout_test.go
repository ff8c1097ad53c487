package timeline

import (
	"testing"

	"mpitx/recording/trace"
)

// The library's events are named without the prefix that most of them share, as far as there is room.
func TestEventsOfACall(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 80, 24)
	var d Detail
	for _, name := range []string{"PERUSE_COMM_REQ_ACTIVATE", "PERUSE_COMM_REQ_NOTIFY", "unexp_message_enqueued"} {
		d.Events = append(d.Events, trace.ExternalCount{Name: name, Events: 18})
	}
	if got, want := u.m.events(&d), " events of the library in this call: 18 REQ_ACTIVATE, 18 REQ_NOTIFY …"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package screen

import tea "charm.land/bubbletea/v2"

// Find opens the run of a screen. If the run is not there yet, awaited says what is missing, and Find is called again later. An error ends
// the screen.
type Find[R any] func() (run R, awaited string, err error)

// FoundMsg is what a Find has returned.
type FoundMsg[R any] struct {
	Run     R
	Awaited string
	Err     error
}

// Look is a command that opens the run.
func (find Find[R]) Look() tea.Msg {
	run, awaited, err := find()
	return FoundMsg[R]{run, awaited, err}
}

// Found takes in what a Find has returned besides the run. Without a run the screen looks again after some time, or it ends.
func (s *Screen) Found(awaited string, err error) tea.Cmd {
	s.awaited, s.Failed = awaited, err
	switch {
	case err != nil:
		return tea.Quit
	case awaited != "":
		return s.Wait(Refresh)
	}
	return nil
}

// Waiting is the text of a screen that has nothing to show yet: it is reading, or waiting for a run that is shown as then says.
func (s *Screen) Waiting(reading, then string) string {
	if s.awaited == "" {
		return reading + s.Terminal.Ellipsis()
	}
	return "Waiting for the run. " + s.Terminal.SafeText(s.awaited) + ".\n\n" + then
}

package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

const mostOffers = 4000 // characters

// Begin is the action that opens the command line with a text.
func (s *Screen) Begin(text string) func() tea.Cmd {
	return Quiet(func() {
		s.Mode, s.Line, s.Offers = Command, prompt.New(text), nil
		s.History.Rewind()
	})
}

// KeyCommand handles a key of the command line. An error is for the user.
func (s *Screen) KeyCommand(name, text string) (tea.Cmd, error) {
	s.Offers = nil
	switch line := s.Line.String(); name {
	case "up", "ctrl+p":
		s.Line = prompt.New(s.History.Older(line))
	case "down", "ctrl+n":
		s.Line = prompt.New(s.History.Newer(line))
	case "tab":
		names := s.Commands.Names
		if s.Complete != nil {
			names = s.Complete
		}
		line, s.Offers = s.Commands.Complete(line, names())
		s.Line = prompt.New(line)
	case "enter":
		s.Mode = Keys
		s.History.Add(strings.TrimSpace(line))
		command, args, err := s.Commands.Parse(line)
		if command == nil {
			return nil, err
		}
		s.Text = nil
		return command.Do(args), nil
	case "esc":
		s.Mode = Keys
	default:
		if s.Line.Key(name, text); name == "backspace" && line == "" {
			s.Mode = Keys
		}
	}
	return nil, nil
}

// CommandLine is what is typed of a command, below what Tab offers.
func (s *Screen) CommandLine() (lines []string) {
	if len(s.Offers) > 0 {
		lines = term.Wrap(s.Terminal.SafeLine(strings.Join(s.Offers, "  "), mostOffers), s.Width-2)
	}
	if most := max(1, min(4, s.Height/5)); len(lines) > most {
		lines = append(lines[:most-1], s.Terminal.Cut(lines[most-1], s.Width-12)+" "+s.Terminal.Ellipsis())
	}
	for i := range lines {
		lines[i] = s.Terminal.Paint(term.Label, s.Terminal.Fit(" "+lines[i], s.Width))
	}
	return append(lines, term.Pad(":"+s.Line.Render(s.Terminal, s.Width-1), s.Width))
}

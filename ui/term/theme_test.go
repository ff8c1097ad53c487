package term

import (
	"image/color"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// Every colour can be read on the background that its theme is for.
func TestContrast(t *testing.T) {
	black, white := color.RGBA{A: 255}, color.RGBA{255, 255, 255, 255}
	for theme, want := range map[Theme]float64{Dark: 4.5, Light: 4.5, HighContrast: enough} {
		for c := Accent; c <= Match; c++ {
			for _, light := range []bool{false, true} {
				if theme == Dark && light || theme == Light && !light {
					continue
				}
				back := map[bool]color.RGBA{false: black, true: white}[light]
				shown := Term{Theme: theme, Light: light, Profile: colorprofile.TrueColor}.Color(shades[c]).(color.RGBA)
				if got := contrast(shown, back); got < want {
					t.Errorf("%s, light background %t: colour %d has a contrast of %.1f, want %.1f", theme, light, c, got, want)
				}
			}
		}
	}
}

// A theme that names a background does not follow the terminal's answer.
func TestThemeBackground(t *testing.T) {
	paint := func(theme Theme, light bool) string {
		return Term{Theme: theme, Light: light, Profile: colorprofile.TrueColor}.Paint(Place, "x")
	}
	if paint(Auto, false) != paint(Dark, true) || paint(Auto, true) != paint(Light, false) {
		t.Error("auto is not dark or light by the background")
	}
	if paint(Dark, false) != paint(Dark, true) || paint(Light, false) != paint(Light, true) || paint(Dark, false) == paint(Light, false) {
		t.Error("dark and light follow the background")
	}
	if paint(HighContrast, false) == paint(HighContrast, true) {
		t.Error("high-contrast does not follow the background")
	}
}

// Every theme shows all styles with each number of colours; without colours the attributes are left.
func TestThemeProfiles(t *testing.T) {
	for theme := range Themes {
		for p, colours := range map[colorprofile.Profile]string{colorprofile.ASCII: "", colorprofile.ANSI: "1;", colorprofile.ANSI256: "38;5;", colorprofile.TrueColor: "38;2;"} {
			got := Term{Theme: Theme(theme), Profile: p}.Paint(Failure, "x")
			if !strings.HasPrefix(got, "\x1b[1") || (colours == "") != (got == "\x1b[1mx\x1b[m") {
				t.Errorf("%s, %s: %q", Theme(theme), p, got)
			}
			if p > colorprofile.ANSI && !strings.Contains(got, colours) {
				t.Errorf("%s, %s: %q has no %s", Theme(theme), p, got, colours)
			}
		}
	}
	for p, want := range map[colorprofile.Profile]string{colorprofile.ASCII: "x", colorprofile.ANSI: "x", colorprofile.TrueColor: "x"} {
		if got := (Term{Theme: HighContrast, Profile: p}).Paint(Label, "x"); got != want {
			t.Errorf("high-contrast mutes a label on %s: %q", p, got)
		}
	}
	if got := (Term{Theme: HighContrast, Profile: colorprofile.ANSI}).Paint(Failure, "x"); got != "\x1b[1;91mx\x1b[m" {
		t.Errorf("high-contrast with 16 colours: %q", got)
	}
}

func TestParseTheme(t *testing.T) {
	for k, name := range Themes {
		if got, err := ParseTheme(name); err != nil || got != Theme(k) || got.String() != name {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := ParseTheme("purple"); err == nil || !strings.Contains(err.Error(), `no theme "purple": use one of auto, dark, light, high-contrast`) {
		t.Errorf("purple: %v", err)
	}
}

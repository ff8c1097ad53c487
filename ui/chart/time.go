package chart

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a time for people: 850ms, 12.5s, 2m5s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 100*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	}
	return d.Round(time.Second).String()
}

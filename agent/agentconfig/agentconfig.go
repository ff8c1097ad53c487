// Package agentconfig writes the agent's configuration, the value of one environment variable.
package agentconfig

import "strings"

// Variable is the name of that variable.
const Variable = "MPITX_AGENT"

// Line is a line of the configuration.
func Line(name, value string) string { return name + "=" + escaper.Replace(value) + "\n" }

var escaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

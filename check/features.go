package check

// Feature is one of mpitx's features on a library.
type Feature struct {
	Name  string `json:"feature"`
	State string `json:"state"` // "works", "partly", "no"
	Why   string `json:"why,omitempty"`
}

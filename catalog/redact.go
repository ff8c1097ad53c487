package catalog

// Redact will come.
func Redact(c *Catalog) {}

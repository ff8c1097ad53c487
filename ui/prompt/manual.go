package prompt

// Section is a part of a screen's manual: what is typed, and what it does.
type Section struct {
	Title string
	Lines [][2]string
}

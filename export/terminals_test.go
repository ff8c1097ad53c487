package export

var (
	tty   = Terminal{Width: 100, IsTTY: true, UTF8: true}
	pipe  = Terminal{UTF8: true}
	color = Terminal{Width: 80, IsTTY: true, UTF8: true, Color: true}
)

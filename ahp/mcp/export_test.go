package mcp

import (
	"termhost/ahp/history"
	"termhost/ahp/host"
)

// AddPanics adds a tool that panics with a value.
func (s *Server) AddPanics(name string, value any) {
	t := tool{name: name, do: func(*call) (string, error) { panic(value) }}
	s.addTool(&t)
}

// Guard is guard.
func (s *Server) Guard(doing string, f func()) { s.guard(doing, f) }

// Progress returns a function that says what a call's progress says of a terminal, from now on.
func Progress(conn *host.Conn, t *host.Terminal) (text func() string, from func() int64) {
	c := &call{ctx: conn.Context(), conn: conn}
	c.about(t, 0)
	var p printed
	return func() string { return p.text(c) }, func() int64 { return p.upTo }
}

// OutputText returns the output of a result with lines, of at most chars characters, and the line of
// it that says what is omitted; "": there is none.
func OutputText(lines []history.TextLine, chars int, onwards bool) (text, omission string) {
	o := output{terminal: "t", chars: chars, onwards: onwards}
	for i := range lines {
		o.add(&lines[i])
	}
	if o.omitted > 0 {
		omission = o.omission()
	}
	return cleaned(o.text()), omission
}

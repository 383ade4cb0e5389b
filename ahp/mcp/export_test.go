package mcp

import "termhost/ahp/host"

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

package mcp

// AddPanics adds a tool that panics with a value.
func (s *Server) AddPanics(name string, value any) {
	t := tool{name: name, do: func(*call) (string, error) { panic(value) }}
	s.addTool(&t)
}

// Guard is guard.
func (s *Server) Guard(doing string, f func()) { s.guard(doing, f) }

package viewer

import (
	"fmt"
	"strings"

	"termhost/ahp/host"
)

// wanting returns the terminals that want the peer's person; none if Quiet says so.
func (s *Session) wanting() []host.Wanted {
	if s.Quiet != nil && s.Quiet() {
		return nil
	}
	list, _ := s.Conn.Wanting() // a principal that may not list gets none
	return list
}

// maxWanting is how many terminals that want somebody are named: as many as fit into a line.
const maxWanting = 5

// wantedText says at the start of a viewer which terminals want its person; "": none does.
func (s *Session) wantedText() string {
	list := s.wanting()
	if len(list) == 0 {
		return ""
	}
	var names []string
	for _, x := range list[:min(len(list), maxWanting)] {
		names = append(names, x.Terminal.Name())
	}
	text := wantYou(len(list)) + ": " + strings.Join(names, ", ")
	if len(list) > maxWanting {
		text += ", ..."
	}
	if s.Prefix != 0 {
		text += " · " + s.key('n')
	}
	return text
}

// goesThere names the key that goes to what wants the person; "" without a prefix key.
func (s *Session) goesThere() string {
	if s.Prefix == 0 {
		return ""
	}
	return ": " + s.key('n') + " goes there"
}

// wantYou says how many terminals want somebody.
func wantYou(n int) string {
	if n == 1 {
		return "1 wants you"
	}
	return fmt.Sprintf("%d want you", n)
}

// wants says what a terminal wants.
func wants(x host.Wanted) string {
	name := x.Terminal.Name()
	switch x.Why {
	case host.Want(host.WaitingInput):
		return name + " waits for input"
	case host.Want(host.WaitingSecret):
		return name + " waits for a secret"
	case host.Want(host.WaitingApproval):
		return name + " waits for an approval"
	case host.WantBell:
		return name + " rang the bell"
	case host.WantCommand:
		return "a command in " + name + " has ended"
	case host.WantFailed:
		return "a command in " + name + " has failed"
	case host.WantKeyboard:
		return host.Printable(x.By) + " asks for the keyboard of " + name
	}
	return name + " has exited"
}

// newsText says what is new, in a line.
func newsText(news []host.Wanted) string {
	text := wants(news[0])
	if n := len(news) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

package viewer

import (
	"fmt"
	"strings"

	"termhost/ahp/host"
)

// wanting returns the terminals of this host that want the peer's person, and how many of other
// hosts do; none if Quiet says so.
func (s *Session) wanting() (list []host.Wanted, elsewhere int) {
	if s.Quiet != nil && s.Quiet() {
		return nil, 0
	}
	list, _ = s.Conn.Wanting() // a principal that may not list gets none
	return list, s.WantElsewhere.Now()
}

// maxWanting is how many terminals that want somebody are named: as many as fit into a line.
const maxWanting = 5

// wantedText says at the start of a viewer which terminals want its person; "": none does.
func (s *Session) wantedText() string {
	list, elsewhere := s.wanting()
	text := wantYou(len(list) + elsewhere)
	switch {
	case len(list)+elsewhere == 0:
		return ""
	case len(list) == 0 && elsewhere == 1:
		text += " on another host"
	case len(list) == 0:
		text += " on other hosts"
	default:
		text += ": " + s.wantingNames(list, elsewhere)
	}
	if s.Prefix != 0 {
		text += " · " + s.key('n')
	}
	return text
}

// wantingNames names terminals that want somebody, and says how many more are elsewhere.
func (s *Session) wantingNames(list []host.Wanted, elsewhere int) string {
	var names []string
	for _, x := range list[:min(len(list), maxWanting)] {
		names = append(names, s.called(x.Terminal))
	}
	if len(list) > maxWanting {
		names = append(names, "...")
	}
	switch {
	case elsewhere == 1:
		names = append(names, "1 on another host")
	case elsewhere > 1:
		names = append(names, fmt.Sprintf("%d on other hosts", elsewhere))
	}
	return strings.Join(names, ", ")
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

// cornerCells is how many cells the count in the corner takes at most, up to 9999.
const cornerCells = 16

// Corner draws how many terminals want a person in the corner of a window, over the count that the
// viewer of another host has drawn there. 0: it only removes that.
func Corner(n int, w Window) []byte {
	if w.Cols < cornerCells {
		return nil
	}
	out := fmt.Appendf(nil, "\x1b7"+plainText+"\x1b[1;%dH\x1b[0m\x1b[%dX", w.Cols-cornerCells+1,
		cornerCells)
	if n > 0 {
		out = appendMark(out, wantYou(n), 0, w)
	}
	return append(out, overEnd...)
}

// wants says why a terminal wants a person, with its program's own words.
func (s *Session) wants(x host.Wanted) string { return Wants(s.called(x.Terminal), x) }

// Wants is what a viewer says of a terminal of that name that wants its person. x need not have the
// Terminal.
func Wants(name string, x host.Wanted) string {
	if x.Text == "" {
		return wantsWhy(name, x)
	}
	if x.Why == host.WantNotice {
		return name + ": " + x.Text
	}
	return wantsWhy(name, x) + ": " + x.Text
}

func wantsWhy(name string, x host.Wanted) string {
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
		if x.Text != "" {
			return name + " has failed"
		}
		return "a command in " + name + " has failed"
	case host.WantDone:
		return name + " is done"
	case host.WantNotice:
		return name + " notifies you"
	case host.WantKeyboard:
		return host.Printable(x.By) + " asks for the keyboard of " + name
	}
	return name + " has exited"
}

// newsText says what is new, in a line.
func (s *Session) newsText(news []host.Wanted) string {
	text := s.wants(news[0])
	if n := len(news) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

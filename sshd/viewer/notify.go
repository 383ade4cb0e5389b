package viewer

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"termhost/ahp/host"
)

// notifyBy is how a person's own terminal shows a notification.
type notifyBy int

const (
	notifyBell notifyBy = iota // none; it rings the bell
	notify9                    // OSC 9 ; text (iTerm2)
	notify777                  // OSC 777 ; notify ; title ; text (rxvt-unicode)
	notify99                   // OSC 99 (kitty, "Desktop notifications")
)

// notifiers are terminals known to show notifications, by the beginning of their name: TERM, which
// SSH passes on, or the answer to XTVERSION. Others use OSC 9 for a progress bar, as ConEmu does.
var notifiers = []struct {
	name string
	by   notifyBy
}{
	{"xterm-kitty", notify99}, {"kitty", notify99},
	{"foot", notify777}, {"rxvt-unicode", notify777},
	{"xterm-ghostty", notify777}, {"ghostty", notify777},
	{"wezterm", notify777},
	{"iterm2", notify9},
}

// notifierOf returns how the terminal of that name shows notifications.
func notifierOf(name string) notifyBy {
	for _, n := range notifiers {
		if strings.HasPrefix(strings.ToLower(name), n.name) {
			return n.by
		}
	}
	return notifyBell
}

// ownNotifier returns how the viewer's terminal shows notifications, according to SSH. iTerm2 names
// itself in LC_TERMINAL, which programs in it pass on, too; a multiplexer in between shows none.
func (s *Session) ownNotifier() notifyBy {
	term, _ := s.Terminal()
	if strings.HasPrefix(term, "xterm") && slices.Contains(s.Env(), "LC_TERMINAL=iTerm2") {
		return notify9
	}
	return notifierOf(term)
}

// notifier notifies a viewer's person. Its methods may be called concurrently.
type notifier struct{ by atomic.Int32 } // a notifyBy

func (n *notifier) set(by notifyBy) { n.by.Store(int32(by)) }

// sequence returns a sequence that notifies the person of text.
func (n *notifier) sequence(text string) []byte {
	text = strings.ReplaceAll(host.Printable(text), ";", ",")
	switch notifyBy(n.by.Load()) {
	case notify9:
		return fmt.Appendf(nil, "\x1b]9;%s\x1b\\", text)
	case notify777:
		return fmt.Appendf(nil, "\x1b]777;notify;termhost;%s\x1b\\", text)
	case notify99:
		return fmt.Appendf(nil, "\x1b]99;i=termhost:d=0;termhost\x1b\\"+
			"\x1b]99;i=termhost:p=body;%s\x1b\\", text)
	}
	return []byte{'\a'}
}

package sshd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
)

// runSend types into a terminal without showing it.
func runSend(v *invocation) int {
	fs := v.flags()
	enter := fs.Bool("enter", false, "")
	var keys []byte
	fs.Func("key", "", func(name string) error {
		seq, ok := keySequence(name)
		if !ok {
			return fmt.Errorf("unknown key; keys are enter, tab, esc, up, f1, ctrl-c, alt-x and the like")
		}
		keys = append(keys, seq...)
		return nil
	})
	args, status, done := v.parse(fs, 1, -1)
	if done {
		return status
	}
	text := strings.Join(args[1:], " ")
	if v.tail {
		text = strings.TrimPrefix(text+" "+v.rest, " ")
	}
	input := append([]byte(text), keys...)
	if *enter {
		input = append(input, '\r')
	}
	if len(input) == 0 {
		return v.misused("say what to type: TEXT, --key or --enter")
	}
	t, err := v.host().Find(v.principal(), args[0])
	if err != nil {
		return v.failed(err)
	}
	if err := v.send(t, input); err != nil {
		return v.failed(err)
	}
	return statusOK
}

// sendPatience is how long `send` waits for a program that does not read.
const sendPatience = 10 * time.Second

// send types input, waiting for room if there is none.
func (v *invocation) send(t *host.Terminal, input []byte) error {
	deadline := time.NewTimer(sendPatience)
	defer deadline.Stop()
	const again = 50 * time.Millisecond
	for {
		err := v.conn().Send(t, input)
		if !errors.Is(err, host.ErrBusy) {
			return err
		}
		select {
		case <-time.After(again):
		case <-deadline.C:
			return err
		case <-v.s.ctx.Done():
			return v.s.ctx.Err()
		}
	}
}

// keySequence returns what a terminal sends for a key (xterm ctlseqs, "PC-Style
// Function Keys", normal mode).
func keySequence(name string) (seq string, ok bool) {
	name = strings.ToLower(name)
	if base, alt := cutModifier(name, "alt-", "meta-", "m-"); alt {
		seq, ok = keySequence(base)
		if !ok && len([]rune(base)) == 1 {
			seq, ok = base, true
		}
		return "\x1b" + seq, ok
	}
	if base, ctrl := cutModifier(name, "ctrl-", "c-", "^"); ctrl {
		return ctrlSequence(base)
	}
	switch name {
	case "enter", "return":
		return "\r", true
	case "tab":
		return "\t", true
	case "shift-tab", "backtab":
		return "\x1b[Z", true
	case "esc", "escape":
		return "\x1b", true
	case "space":
		return " ", true
	case "backspace":
		return "\x7f", true
	case "up":
		return "\x1b[A", true
	case "down":
		return "\x1b[B", true
	case "right":
		return "\x1b[C", true
	case "left":
		return "\x1b[D", true
	case "home":
		return "\x1b[H", true
	case "end":
		return "\x1b[F", true
	case "insert":
		return "\x1b[2~", true
	case "delete":
		return "\x1b[3~", true
	case "pageup":
		return "\x1b[5~", true
	case "pagedown":
		return "\x1b[6~", true
	}
	return functionKey(name)
}

func functionKey(name string) (seq string, ok bool) {
	digits, isF := strings.CutPrefix(name, "f")
	switch n := number(digits); {
	case !isF || n < 1 || n > 12:
		return "", false
	case n <= 4:
		return "\x1bO" + string(rune('P'+n-1)), true
	default:
		codes := [...]int{15, 17, 18, 19, 20, 21, 23, 24}
		return fmt.Sprintf("\x1b[%d~", codes[n-5]), true
	}
}

func ctrlSequence(base string) (seq string, ok bool) {
	switch {
	case base == "space", base == "@":
		return "\x00", true
	case base == "?":
		return "\x7f", true
	case len(base) == 1 && base[0] >= 'a' && base[0] <= 'z', len(base) == 1 && base[0] >= '[' && base[0] <= '_':
		return string(rune(base[0] & 0x1f)), true
	}
	return "", false
}

func cutModifier(name string, modifiers ...string) (base string, found bool) {
	for _, m := range modifiers {
		if base, ok := strings.CutPrefix(name, m); ok && base != "" {
			return base, true
		}
	}
	return name, false
}

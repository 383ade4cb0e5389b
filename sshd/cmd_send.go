package sshd

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/vt"
)

// runSend types into a terminal without showing it: first the text, then the keys in
// the order of the command line, then Enter. What has to come before the text is
// sent by itself. Flags end where the text begins, as those of tmux's send-keys do:
// with the first word behind NAME that is none of them, or behind "--".
func runSend(v *invocation) int {
	fs := v.flags()
	enter := fs.Bool("enter", false, "")
	var keys []vt.Key
	fs.Func("key", "", func(name string) error {
		k, ok := parseKey(name)
		if !ok {
			return errUnknownKey
		}
		keys = append(keys, k)
		return nil
	})
	name, text, status, done := v.nameAndText(fs)
	if done {
		return status
	}
	if *enter {
		keys = append(keys, vt.Key{Code: vt.KeyEnter})
	}
	if len(text)+len(keys) == 0 {
		return v.misused("say what to type: TEXT, --key or --enter")
	}
	t, err := v.host().Find(v.principal(), name)
	if err != nil {
		return v.failed(err)
	}
	before := t.Info(v.principal())
	if err := v.send(t, []byte(text), keys); err != nil {
		return v.failed(err)
	}
	if !before.Mine && t.Info(v.principal()).Mine {
		v.tellTook(before)
	}
	return statusOK
}

// nameAndText reads the command line of runSend: flags, NAME, flags, text.
func (v *invocation) nameAndText(fs *flag.FlagSet) (name, text string, status int, done bool) {
	args, status, done := v.flagsAtHead(fs, v.words)
	if done {
		return "", "", status, true
	}
	behind := v.rest
	switch {
	case len(args) > 0:
		name, args = args[0], args[1:]
	default: // it is behind "--", as one that begins with "-" has to be
		var err error
		if name, behind, err = takeWord(behind); err != nil {
			return "", "", v.misused("%v", err), true
		}
		if name == "" {
			return "", "", v.misused("%s needs an argument", v.cmd.name), true
		}
	}
	n := knownFlags(fs, args)
	if _, status, done = v.flagsAtHead(fs, args[:n]); done {
		return "", "", status, true
	}
	text = strings.Join(args[n:], " ")
	if v.tail {
		text = strings.TrimPrefix(text+" "+behind, " ")
	}
	return name, text, statusOK, false
}

// tellTook says whose keyboard was taken by typing.
func (v *invocation) tellTook(from host.Info) {
	fmt.Fprintf(v.stderr, "termhost: you took the keyboard of %s from %s\n", from.Name, from.Holder)
	if p := v.s.c.srv.cfg.DetachPrefix; p != 0 {
		fmt.Fprintf(v.stderr, "hint: to hand it back: %s, then %s r\n", v.s.c.comeBack(from.Name), keyName(p))
	}
}

// sendPatience is how long `send` waits for a program that does not read.
const sendPatience = 10 * time.Second

// send types text and keys, waiting for room if there is none.
func (v *invocation) send(t *host.Terminal, text []byte, keys []vt.Key) error {
	deadline := time.NewTimer(sendPatience)
	defer deadline.Stop()
	const again = 50 * time.Millisecond
	for {
		err := v.conn().Send(t, text, keys...)
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

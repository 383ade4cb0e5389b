package verbs

import (
	"slices"

	"termhost/ptypool/keyboard"
	"termhost/sshd/verbs/helptext"
)

// prefix is the control character that begins a command while attached; 0: there are none. It is
// the person's choice, or the host's. Where nothing is drawn, every key is the program's.
func (v *invocation) prefix() byte {
	if v.plainTerminal() {
		return 0
	}
	if text, ok := v.chosen(keyboard.PrefixVariable); ok {
		if key, err := keyboard.ParsePrefix(text); err == nil {
			return key
		}
	}
	return v.Prefix
}

// programEnv returns the peer's variables for a program, without those for the viewer.
func (v *invocation) programEnv() []string {
	return slices.DeleteFunc(slices.Clone(v.Env()), forViewer)
}

// choosePrefix has the prefix flag of a verb, if it has one, count as the variable, which other
// hosts of the fleet are told, too.
func (v *invocation) choosePrefix() {
	if v.fs.Lookup(helptext.PrefixFlag) == nil {
		return
	}
	for i, w := range v.words {
		name, value, hasValue := flagName(w)
		if name != helptext.PrefixFlag {
			continue
		}
		if !hasValue && i+1 < len(v.words) {
			value = v.words[i+1]
		}
		v.IO = ownPrefix{v.IO, value}
	}
}

// ownPrefix is a peer that has chosen a prefix key by a flag.
type ownPrefix struct {
	IO
	key string
}

// Env returns the peer's variables with the choice.
func (p ownPrefix) Env() []string {
	return append(slices.Clone(p.IO.Env()), keyboard.PrefixVariable+"="+p.key)
}

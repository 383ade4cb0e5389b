package verbs

import (
	"fmt"
	"strings"

	"termhost/ptypool/keyboard"
	"termhost/sshd/viewer"
)

// chosen returns the value of a variable with which a person chooses how it is shown terminals: the
// one that was sent last.
func (v *invocation) chosen(variable string) (value string, ok bool) {
	for _, e := range v.Env() {
		if text, is := strings.CutPrefix(e, variable+"="); is {
			value, ok = text, true
		}
	}
	return value, ok
}

// forViewer reports whether a variable, NAME=value, is for the viewer, not for programs.
func forViewer(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == keyboard.PrefixVariable || name == keyboard.StatusVariable
}

// unheeded returns what a person is told about each of the variables whose value cannot be heeded.
func (v *invocation) unheeded() (told []string) {
	if key, _ := v.chosen(keyboard.PrefixVariable); key != "" {
		if _, err := keyboard.ParsePrefix(key); err != nil {
			told = append(told, fmt.Sprintf("%s: %v", keyboard.PrefixVariable, err))
		}
	}
	switch how, _ := v.chosen(keyboard.StatusVariable); how {
	case "", viewer.StatusLine, viewer.StatusOff:
	default:
		told = append(told, fmt.Sprintf("%s: %q is neither %q nor %q", keyboard.StatusVariable, how,
			viewer.StatusLine, viewer.StatusOff))
	}
	return told
}

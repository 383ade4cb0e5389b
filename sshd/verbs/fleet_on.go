package verbs

import (
	"errors"
	"flag"
	"strings"
)

// onFlag adds --on, which chooses the host that a verb runs on.
func onFlag(fs *flag.FlagSet) *string {
	on := new(string)
	fs.Func("on", "on another host of the fleet, a `BOX`, or the least loaded one that has all"+
		" labels", func(text string) error {
		switch {
		case strings.HasPrefix(text, "-"):
			return errors.New("it needs a host of the fleet, or labels")
		case *on != "":
			return errors.New("it is given twice; labels are joined by commas: --on gpu=a100,eu")
		}
		*on = text
		return nil
	})
	return on
}

// runOn runs the verb on the host that --on chooses, which is among the first words. done is false
// if that is this one.
func (v *invocation) runOn(on string, words int) (status int, done bool) {
	f := v.fleet()
	if f == nil {
		return v.failed(v.noFleet()), true
	}
	host, err := f.Choose(on)
	switch {
	case err != nil:
		return v.failed(err), true
	case host == v.self():
		return StatusOK, false
	}
	value := false // the word is the flag's value
	line := v.edited(func(i int, text string) string {
		name, _, valued := flagName(text)
		leave := i < words && (value || name == "on")
		value = name == "on" && !valued
		if leave {
			return ""
		}
		return text
	})
	return v.carried(host, line), true
}

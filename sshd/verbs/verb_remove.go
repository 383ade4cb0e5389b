package verbs

import (
	"errors"
	"flag"
	"fmt"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/sshd/wording"
)

// defineRemove disposes terminals, or deletes recordings, by their whole names.
func defineRemove(fs *flag.FlagSet) func(*invocation) int {
	recordings := fs.Bool("recording", false, "what is named are recordings, which are deleted")
	exited := fs.Bool("exited", false, "all that have exited and that you may remove")
	var s ahp.Selector
	selectorFlag(fs, &s)
	return func(v *invocation) int {
		switch {
		case len(s) > 0 && (*exited || *recordings || len(v.args) > 0):
			return v.misused("-l stands alone")
		case len(s) > 0:
			return v.removeSelected(s)
		case *exited && (*recordings || len(v.args) > 0):
			return v.misused("--exited stands alone")
		case *exited:
			return v.removeExited()
		case len(v.args) == 0:
			return v.misused("rm needs an argument")
		}
		return v.remove(*recordings)
	}
}

func (v *invocation) remove(recordings bool) int {
	status, remove := StatusOK, v.dispose
	if recordings {
		remove = v.Conn.RemoveRecording
	}
	for _, name := range v.args {
		if err := remove(name); err != nil {
			status = v.failed(err)
		}
	}
	return status
}

// dispose ends the terminal of a whole NAME.
func (v *invocation) dispose(name string) error {
	t, err := v.Conn.Find(name)
	var missing *host.NotFoundError
	switch {
	case errors.As(err, &missing) && len(missing.Candidates) > 0:
		return fmt.Errorf("there is no terminal named exactly %q; "+
			"to remove one its whole name is needed", name)
	case err != nil:
		return err
	}
	err = v.Conn.Dispose(t)
	var held *host.HeldError
	if err == nil || errors.As(err, &held) { // which has the name
		return err
	}
	return fmt.Errorf("%s: %w", v.shown(t.Name()), err)
}

// removeMatching is [invocation.onMatching]. Who is on this machine, as an agent in a terminal is,
// means this host's.
func (v *invocation) removeMatching(matches func(host.Info) bool) (status int, done bool) {
	if v.Local {
		return StatusOK, false
	}
	return v.onMatching(matches)
}

// removeSelected removes the terminals whose labels s selects, and says which.
func (v *invocation) removeSelected(s ahp.Selector) int {
	if status, done := v.removeMatching(selects(s)); done {
		return status
	}
	list, err := v.selected(nil, s)
	if err != nil {
		return v.failed(err)
	}
	status := StatusOK
	for _, t := range list {
		if err := v.dispose(t.URI()); err != nil {
			status = v.failed(err)
			continue
		}
		fmt.Fprintf(v.stderr, "%s removed\n", v.shown(t.Name()))
	}
	return status
}

// removeExited removes the exited terminals that the peer may remove, and says how many.
func (v *invocation) removeExited() int {
	exited := func(i host.Info) bool { return i.State == host.StateExited }
	if status, done := v.removeMatching(exited); done {
		return status
	}
	list, err := v.Conn.List()
	if err != nil {
		return v.failed(err)
	}
	status, removed := StatusOK, 0
	for _, i := range list {
		if !exited(i) {
			continue
		}
		t, err := v.Conn.Find(i.URI)
		if err != nil || !v.Conn.MayDispose(t) {
			continue // it is gone, or somebody else's
		}
		if err := v.dispose(i.Name); err != nil {
			status = v.failed(err)
			continue
		}
		removed++
	}
	fmt.Fprintf(v.stderr, "%s removed\n", wording.Counted(removed, "exited terminal"))
	return status
}

package sshd

import (
	"errors"
	"fmt"

	"termhost/ahp/host"
)

// runRemove disposes terminals. Only whole names count here: what is removed
// does not come back.
func runRemove(v *invocation) int {
	names, status, done := v.parse(v.flags(), 1, -1)
	if done {
		return status
	}
	for _, name := range names {
		if err := v.remove(name); err != nil {
			status = v.failed(err)
		}
	}
	return status
}

func (v *invocation) remove(name string) error {
	t, err := v.host().Find(v.principal(), name)
	var missing *host.NotFoundError
	switch {
	case errors.As(err, &missing) && len(missing.Candidates) > 0, err == nil && t.Name() != name:
		return fmt.Errorf("there is no terminal named exactly %q; to remove one its whole name is needed", name)
	case err != nil:
		return err
	}
	if err := v.host().Dispose(v.principal(), t); err != nil {
		return fmt.Errorf("%s: %w", t.Name(), err)
	}
	return nil
}

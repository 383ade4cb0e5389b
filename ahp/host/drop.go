package host

import (
	"context"
	"errors"

	"termhost/ahp"
	"termhost/ahp/drops"
	"termhost/authz"
)

// MaxDropBytes bounds a file that is given to a terminal's program, in bytes.
const MaxDropBytes = drops.MaxBytes

// DropError says why a terminal takes no file, in words for its peer.
type DropError struct{ Reason string }

func (e *DropError) Error() string { return e.Reason }

// Drop is a file that a peer gives to the program of a terminal: see package drops. It must not be
// used concurrently, and must be ended with Finish or Abort.
type Drop struct {
	c     *Conn
	t     *Terminal
	lends bool
	file  *drops.File
}

// Drop begins a file for a terminal's program, for whoever may type there. lends: an admin may
// without the claim. The file's path is for the caller to type. It returns *authz.Denied,
// *DropError, ErrExited or why the connection has ended.
func (c *Conn) Drop(t *Terminal, lends bool) (*Drop, error) {
	d := &Drop{c: c, t: t, lends: lends}
	if err := d.may(); err != nil {
		return nil, err
	}
	if !ahp.ValidName(t.id) { // it is to be the name of a folder
		return nil, &DropError{"a terminal that is named by such a URI takes no files"}
	}
	file, err := c.host.drops.Create(t.id)
	if err != nil {
		return nil, dropError(c, err)
	}
	d.file = file
	return d, nil
}

// may returns why the peer may not give the program a file now. What an agent types into a guarded
// terminal waits for a person's yes, and a file does not wait.
func (d *Drop) may() error {
	s := step{conn: d.c, principal: d.c.principal}
	d.t.term.Lock()
	defer d.t.term.Unlock()
	switch {
	case d.t.life.exited:
		return ErrExited
	case d.c.ctx.Err() != nil:
		return context.Cause(d.c.ctx)
	case d.t.Client(), d.t.Piped():
		return &DropError{"its program takes no keys, and no files"}
	}
	if _, err := d.t.mayType(s, d.lends); err != nil {
		return err
	}
	if d.t.approvals.bindsAgent(s) {
		return &DropError{"it is guarded: agents give it no files"}
	}
	return nil
}

// Write adds to the file.
func (d *Drop) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	return n, dropError(d.c, err)
}

// IsFor reports whether the file is for a terminal.
func (d *Drop) IsFor(t *Terminal) bool { return d.t == t }

// Size returns how much has come, in bytes.
func (d *Drop) Size() int64 { return d.file.Size() }

// Finish ends the file, if the peer still may type, and returns its path, with a name like the one
// that is wanted, and what to type of it: a word of a shell's line. Otherwise it deletes the file.
func (d *Drop) Finish(name string) (path, paste string, err error) {
	if err := d.may(); err != nil {
		d.file.Discard()
		return "", "", err
	}
	path, err = d.file.Keep(name)
	if err != nil {
		d.file.Discard()
		return "", "", dropError(d.c, err)
	}
	d.c.Audit(authz.AuditDrop, "terminal", d.t.Name(), "who", d.c.principal.Name,
		"bytes", d.file.Size())
	return path, drops.Quote(path) + " ", nil
}

// Abort deletes the file.
func (d *Drop) Abort() { d.file.Discard() }

// dropError returns what the peer is told of err: no path of the host's.
func dropError(c *Conn, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, drops.ErrTooLarge), errors.Is(err, drops.ErrTooMany):
		return &DropError{err.Error()}
	}
	c.LogFailure(err)
	return &DropError{"the host cannot keep the file; its log says why"}
}

// openDrops opens the files that earlier hosts have kept, once the terminals are restored.
func (h *Host) openDrops() {
	live := map[string]bool{}
	for _, t := range h.all() {
		live[t.id] = true
	}
	if err := h.drops.Open(h.cfg().StateDir, func(id string) bool { return live[id] }); err != nil {
		h.log.Warn("some files that were given to terminals are left", "err", err)
	}
}

package sshd

import (
	"os"
	"path/filepath"
)

// runRun runs a command to its end. Its terminal goes with it, unless the
// connection is lost before.
func runRun(v *invocation) int {
	fs := v.flags()
	name := fs.String("n", "", "")
	dir := fs.String("C", "", "")
	if _, status, done := v.parse(fs, 0, 0); done {
		return status
	}
	if v.rest == "" {
		return v.misused("say what to run after --")
	}
	o := v.s.createOptions()
	o.Name, o.Dir, o.Line, o.Transient = *name, absolute(*dir), v.rest, true
	return v.create(o, nil)
}

// absolute takes a relative folder from the home folder, where sshd would be.
func absolute(dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return dir
	}
	return filepath.Join(home, dir)
}

package keeper

import (
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	ttyGroup = "tty" // write(1) and wall(1) run as this group
	// What the group may do, mesg(1) changes.
	ttyMode      = 0o620
	ttyModeAlone = 0o600 // where the tty is not the group's
)

// OwnTTY gives the device of a new pty its group and mode, as OpenSSH's sshd does (pty_setowner in
// its sshpty.c). Where devpts is not mounted with that group, only root may set it. If it stays
// another one, that group may do nothing. A terminal works whatever its mode is, so a failure is
// not told.
func OwnTTY(tty int) {
	var st unix.Stat_t
	if unix.Fstat(tty, &st) != nil {
		return
	}
	mode := uint32(ttyModeAlone)
	if g, err := user.LookupGroup(ttyGroup); err == nil {
		gid, err := strconv.Atoi(g.Gid)
		if err == nil && (int(st.Gid) == gid || unix.Fchown(tty, -1, gid) == nil) {
			mode = ttyMode
		}
	}
	if st.Mode&0o777 != mode {
		_ = unix.Fchmod(tty, mode)
	}
}

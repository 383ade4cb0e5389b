package sshd

import (
	"errors"
	"io"
	"net"
	"strings"

	"termhost/ahp/hosttest"
	"termhost/authz"
)

// Options of a key in authorized_keys that give its holder a role.
const (
	asObserver = `environment="TERMHOST_ROLE=observer"`
	asOperator = `environment="TERMHOST_ROLE=operator"`
)

type authzPrincipal = authz.Principal

func errorsAs[T error](err error, target *T) bool { return errors.As(err, target) }

// echoDoor stands for the HTTP door: it says who came, and echoes.
func echoDoor(nc net.Conn, p authz.Principal) {
	defer nc.Close()
	if _, err := io.WriteString(nc, p.Name+" "+p.Role.String()+"\n"); err != nil {
		return
	}
	_, _ = io.Copy(nc, nc)
}

// shows waits until the screen of a terminal contains text.
func (r *rig) shows(name, text string) {
	r.t.Helper()
	hosttest.Eventually(r.t, name+" shows "+text, func() bool {
		return strings.Contains(r.ssh("alice", "", "peek "+name).stdout, text)
	})
}

// empties waits until the last SSH connection has ended.
func (r *rig) empties() {
	r.t.Helper()
	hosttest.Eventually(r.t, "all connections have ended", func() bool {
		return r.host.Stats().Connections["ssh"] == 0
	})
}

package sshd

import (
	"errors"
	"io"
	"net"

	"termhost/authz"
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

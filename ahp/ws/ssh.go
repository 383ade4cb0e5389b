package ws

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"termhost/ahp/host"
)

// sshPath is where a peer of the unix socket turns its connection into one of
// SSH, which is what `termhost attach` does: who it is, is known.
const sshPath = "/ssh"

// ssh answers a request to go on with SSH on the same connection (RFC 9110
// section 7.8). Only the unix socket has it: SSH clients that come over TCP
// have the SSH door.
func (s *Server) ssh(w http.ResponseWriter, r *http.Request, d *door) error {
	if d.name != host.DoorUnix || s.cfg.SSH == nil {
		return &refusal{http.StatusNotFound, "SSH is spoken at the SSH door"}
	}
	if r.Header.Get("Upgrade") != "ssh" {
		return &refusal{http.StatusUpgradeRequired, "this is SSH: ask for an upgrade to it"}
	}
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	_ = nc.SetDeadline(time.Time{}) // the request's own; it cannot fail on an open socket
	if _, err := nc.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ssh\r\n\r\n")); err != nil {
		nc.Close()
		return nil // the peer has gone
	}
	if d.proof != nil {
		release := d.proof(func(error) { nc.Close() })
		defer release()
	}
	s.cfg.SSH(&readAhead{Conn: nc, r: rw.Reader}, d.principal)
	return nil
}

// readAhead is a connection of which something has been read already.
type readAhead struct {
	net.Conn
	r *bufio.Reader
}

func (c *readAhead) Read(p []byte) (int, error) { return c.r.Read(p) }

package ws

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// ssh switches a connection on the unix socket to SSH (RFC 9110 section 7.8), for `termhost
// attach`: the kernel identifies the peer, so it needs no key. TCP has the SSH door.
func (s *Server) ssh(w http.ResponseWriter, r *http.Request, p Peer) error {
	if r.Header.Get("Upgrade") != "ssh" {
		return &Refusal{http.StatusUpgradeRequired, "this is SSH: ask for an upgrade to it"}
	}
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	_ = nc.SetDeadline(time.Time{}) // the request's own; it cannot fail on an open socket
	const accepted = "HTTP/1.1 101 Switching Protocols\r\n" +
		"Connection: Upgrade\r\nUpgrade: ssh\r\n\r\n"
	if _, err := nc.Write([]byte(accepted)); err != nil {
		nc.Close()
		return nil // the peer has gone
	}
	defer p.Follow(func(error) { nc.Close() })()
	s.cfg().SSH(&readAhead{Conn: nc, r: rw.Reader}, p.Principal, p.source.Within)
	return nil
}

// readAhead is a connection of which a part was read already.
type readAhead struct {
	net.Conn
	r *bufio.Reader
}

func (c *readAhead) Read(p []byte) (int, error) { return c.r.Read(p) }

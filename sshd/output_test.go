package sshd

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"termhost/ahp/transport"
)

// A peer whose login is answered when the time for the handshake is up must not wait for the answer:
// x/crypto does not tell of the write that has failed.
func TestAWriteThatFailsEndsTheConnection(t *testing.T) {
	t.Parallel()
	host, peer := net.Pipe()
	defer peer.Close()
	if err := peer.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	c := progressing{transport.NewProgress(host, 0), &intake{}, nil}
	if err := c.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write after its time: %v", err)
	}
	if n, err := peer.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the peer reads %d bytes, %v", n, err)
	}
}

package transport_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/transport"
)

// sockets returns the two ends of a connection, of which near is a Progress.
func sockets(t *testing.T, network string) (near, far net.Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = t.TempDir() + "/socket"
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err = net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	near = transport.NewProgress(c, 0)
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func TestASocketBehavesAsThatOfPackageNet(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			t.Run("all bytes arrive", func(t *testing.T) {
				near, far := sockets(t, network)
				sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // more than any buffer
				move := func(from io.WriteCloser, to io.Reader) {
					go func() {
						_, _ = from.Write(sent)
						from.Close()
					}()
					if got, err := io.ReadAll(to); err != nil || !bytes.Equal(got, sent) {
						t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
					}
				}
				move(near, far)
				near, far = sockets(t, network)
				move(far, near)
			})
			t.Run("nothing is read into nothing", func(t *testing.T) {
				near, _ := sockets(t, network)
				if n, err := near.Read(nil); n != 0 || err != nil {
					t.Errorf("read %d, %v", n, err)
				}
			})
			t.Run("deadlines", func(t *testing.T) {
				near, far := sockets(t, network)
				near.SetReadDeadline(time.Now())
				_, err := near.Read(make([]byte, 1))
				var timeout net.Error
				if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) ||
					!timeout.Timeout() {
					t.Errorf("read: %v", err)
				}
				much := make([]byte, 64<<20)
				near.SetDeadline(time.Now().Add(10 * time.Millisecond))
				n, err := near.Write(much)
				var op *net.OpError
				if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &op) || op.Op != "write" {
					t.Errorf("wrote %d, %v", n, err)
				}
				near.Close()
				if got, err := io.ReadAll(far); err != nil || len(got) != n {
					t.Errorf("%d bytes have come of %d, %v", len(got), n, err)
				}
			})
			t.Run("a close wakes a reader", func(t *testing.T) {
				near, _ := sockets(t, network)
				time.AfterFunc(time.Millisecond, func() { near.Close() })
				if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			})
			t.Run("a lost peer is told by its errno", func(t *testing.T) {
				near, far := sockets(t, network)
				far.Close()
				var err error
				for err == nil { // the first write may still succeed
					_, err = near.Write([]byte("x"))
				}
				var op *net.OpError
				if !errors.As(err, &op) || op.Op != "write" ||
					!errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("%#v", err)
				}
			})
		})
	}
}

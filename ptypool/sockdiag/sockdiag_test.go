package sockdiag

import (
	"errors"
	"net"
	"os"
	"strconv"
	"testing"
)

// connect returns both ends of a connection.
func connect(t *testing.T, listen, dial string) (ours, theirs *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Skipf("%s: %v", listen, err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", net.JoinHostPort(dial, port))
	if err != nil {
		t.Skipf("%s: %v", dial, err)
	}
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); a.Close() })
	return a.(*net.TCPConn), c.(*net.TCPConn)
}

// inodeOf returns the inode of our own end.
func inodeOf(t *testing.T, c *net.TCPConn) uint64 {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var link string
	_ = raw.Control(func(fd uintptr) { link, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) })
	n, perr := strconv.ParseUint(link[len("socket:["):len(link)-1], 10, 64)
	if err != nil || perr != nil {
		t.Fatal(link, err, perr)
	}
	return n
}

func TestTheSocketAtTheOtherEndIsFound(t *testing.T) {
	for _, c := range []struct{ listen, dial string }{
		{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {"[::]:0", "127.0.0.1"},
		{"[::]:0", "::1"}, {"[::]:0", "::ffff:127.0.0.1"}, {"0.0.0.0:0", "127.0.0.5"},
	} {
		t.Run(c.listen+" "+c.dial, func(t *testing.T) {
			ours, theirs := connect(t, c.listen, c.dial)
			local, remote := ours.LocalAddr().(*net.TCPAddr), ours.RemoteAddr().(*net.TCPAddr)
			want := Socket{Inode: inodeOf(t, theirs), UID: os.Getuid()}
			if s, err := Peer(local, remote); err != nil || s != want {
				t.Errorf("got %v, %v, want %v", s, err, want)
			}
			if s, err := readTable(remote.AddrPort(), local.AddrPort()); err != nil || s != want {
				t.Errorf("the table has %v, %v, want %v", s, err, want)
			}
		})
	}
}

func TestAnEndThatIsElsewhereIsNotFound(t *testing.T) {
	ours, _ := connect(t, "127.0.0.1:0", "127.0.0.1")
	local := ours.LocalAddr().(*net.TCPAddr)
	l, err := net.Listen("tcp", "0.0.0.0:0") // whose port the other machine's socket has, too
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: l.Addr().(*net.TCPAddr).Port}
	if s, err := Peer(local, far); !errors.Is(err, ErrNone) {
		t.Errorf("got %v, %v", s, err)
	}
}

func BenchmarkPeer(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for b.Loop() {
		if _, err := Peer(c.RemoteAddr().(*net.TCPAddr), c.LocalAddr().(*net.TCPAddr)); err != nil {
			b.Fatal(err)
		}
	}
}

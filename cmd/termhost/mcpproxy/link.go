package mcpproxy

import (
	"io"
	"sync"
	"time"
)

// link is one connection to the host. All but its reader and its writer belong to the goroutine of
// the proxy.
type link struct {
	conn   io.ReadWriteCloser
	out    *outbox
	closed chan struct{} // closed by close
	once   sync.Once

	ready bool                      // the host answers, and knows what the client has set up
	own   map[string]func(*message) // what waits for answers to the proxy's own requests, by key
	heard time.Time                 // when the host has sent something; by the wall clock
	due   time.Time                 // when the host must have answered the ping; zero: none is out
}

// newLink begins to read and write on a connection.
func newLink(conn io.ReadWriteCloser, emit func(input) bool) *link {
	l := &link{conn: conn, out: newOutbox(conn), closed: make(chan struct{}),
		own: map[string]func(*message){}, heard: wall()}
	go readLines(conn, maxAnswer, func(in input) bool {
		in.link = l
		return emit(in)
	})
	return l
}

// close ends the connection, which may take some seconds.
func (l *link) close() {
	l.once.Do(func() {
		close(l.closed)
		l.out.close()
		_ = l.conn.Close() // nothing is left to be done about an error
	})
}

// wall returns the time by the wall clock. The other clock stands still while a machine sleeps.
func wall() time.Time { return time.Now().Round(0) }

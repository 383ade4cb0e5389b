package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/user"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/crypto/ssh"
)

// soakPrograms are what runs in the terminals, in turn: most are quiet, some print now and then,
// one prints much at a time.
func soakPrograms() []string {
	return []string{
		"exec cat", "exec cat", "exec cat", "exec cat", "exec cat", "exec cat",
		"while :; do date; sleep 1; done",
		"while :; do ls -l /usr/bin; sleep 2; done",
		"while :; do echo tick; sleep 0.2; done",
		"while :; do head -c 300000 /dev/zero | tr '\\0' x; sleep 5; done",
	}
}

// quietName is the terminal in which the echo is measured.
const quietName = "quiet"

// makeTerminals makes the terminals, each with one of the keys.
func (s *soak) makeTerminals() error {
	programs := soakPrograms()
	for i := range soakTerminals {
		name := fmt.Sprintf("t%d", i)
		verb := fmt.Sprintf("new -d -n %s -- %s", name, programs[i%len(programs)])
		if _, err := s.ask(s.keys[i%len(s.keys)], verb); err != nil {
			return err
		}
		s.terms = append(s.terms, name)
	}
	return nil
}

// quiet returns a session in which only the echo is measured.
func (s *soak) quiet() (*Session, error) {
	c, err := dialSSH(s.host.address(), s.keys[0])
	if err != nil {
		return nil, err
	}
	q, err := startSSH(c, "new -n "+quietName+" -- "+kernelEcho().line("/dev/null"), window{})
	if err == nil {
		err = await(q.Out, ready)
	}
	if err != nil {
		c.Close()
	}
	return q, err
}

// echo measures the echo until the end.
func (s *soak) echo(q *Session) {
	for i := 0; s.ctx.Err() == nil; i++ {
		late := time.AfterFunc(patience, q.Close)
		took, err := q.Echo(i)
		late.Stop()
		if err != nil {
			s.fails(fmt.Errorf("the quiet terminal: %w", err))
			return
		}
		s.mu.Lock()
		s.echoes = append(s.echoes, took)
		s.mu.Unlock()
		s.pause(echoEvery)
	}
}

// pause waits; it is false at the end of the soak.
func (s *soak) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// fails counts a connection that was refused or lost, unless the soak is over.
func (s *soak) fails(err error) {
	if s.ctx.Err() != nil {
		return
	}
	s.failed.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

// peer is one connection of a client.
type peer struct {
	read   func() error // waits for something and reads it
	typing func() error // types a little
	leave  func()       // ends it in order
	cut    func()       // ends it as a machine does that is switched off; it may be called again
}

// client connects, stays for a while and leaves, again and again. It is one of the kinds in turn.
func (s *soak) client(i int) {
	connect := []func(int) (*peer, error){s.overSSH, s.overWebSocket, s.overSubsystem}[i%3]
	for s.pause(time.Duration(rand.Int64N(int64(2 * time.Second)))) {
		p, err := connect(i)
		if err != nil {
			s.fails(err)
			continue
		}
		s.connections.Add(1)
		s.use(p)
	}
}

// use has a connection read and type for a while and end in one of the ways.
func (s *soak) use(p *peer) {
	stalls := rand.IntN(100) < stalledPercent
	killed := rand.IntN(100) < killedPercent
	until := time.Now().Add(time.Duration(rand.ExpFloat64() * float64(stay)))
	ended := make(chan error, 1)
	go func() { // ends with the connection
		for {
			if stalls && time.Now().After(until) {
				ended <- nil // it reads no more
				return
			}
			if err := p.read(); err != nil {
				ended <- err
				return
			}
		}
	}()
	defer p.cut()
	if stalls {
		s.stalled.Add(1)
		s.pause(time.Until(until) + stay)
		return
	}
	for time.Now().Before(until) && s.pause(min(typeEvery, time.Until(until))) {
		if err := p.typing(); err != nil {
			s.fails(err)
			return
		}
		select {
		case err := <-ended:
			s.fails(fmt.Errorf("lost: %w", err))
			return
		default:
		}
	}
	if killed {
		s.killed.Add(1)
		return
	}
	p.leave()
}

// dial returns a connection to one of the host's doors, and what cuts it off.
func (s *soak) dial(addr string) (net.Conn, func(), error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, nil, err
	}
	return c, func() {
		_ = c.(*net.TCPConn).SetLinger(0) // it is reset; a closed one is not changed
		c.Close()
	}, nil
}

// login returns an SSH connection with one of the keys, and what cuts it off.
func (s *soak) login(i int) (*ssh.Client, func(), error) {
	u, err := user.Current()
	if err != nil {
		return nil, nil, err
	}
	c, cut, err := s.dial(s.host.address())
	if err != nil {
		return nil, nil, err
	}
	config := &ssh.ClientConfig{User: u.Username,
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(s.keys[i%len(s.keys)])},
		HostKeyCallback: ssh.InsecureIgnoreHostKey()} // the host is the soak's own
	late := time.AfterFunc(patience, cut)
	defer late.Stop()
	conn, chans, reqs, err := ssh.NewClientConn(c, "", config)
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return ssh.NewClient(conn, chans, reqs), cut, nil
}

// term returns the NAME of any of the terminals.
func (s *soak) term() string { return s.terms[rand.IntN(len(s.terms))] }

// overSSH attaches to a terminal.
func (s *soak) overSSH(i int) (*peer, error) {
	c, cut, err := s.login(i)
	if err != nil {
		return nil, err
	}
	session, err := startSSH(c, "attach "+s.term(), window{})
	if err != nil {
		c.Close()
		return nil, err
	}
	buf := make([]byte, 32<<10)
	return &peer{
		read:   func() error { _, err := session.Out.Read(buf); return err },
		typing: func() error { _, err := session.In.Write([]byte("k")); return err },
		leave: func() {
			_, _ = session.In.Write([]byte("\x1cd")) // it may have gone
			c.Close()
		},
		cut: cut,
	}, nil
}

// messages are an AHP connection, whatever is below it.
type messages interface {
	write(msg []byte) error
	read() error
	close()
}

// ahp makes a peer that follows two terminals, of which it types into one if it holds it.
func (s *soak) ahp(i int, m messages, cut func()) (*peer, error) {
	term := s.term()
	hello := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"soak-%d",`+
		`"initialSubscriptions":["ahp-root://","ahp-terminal:/%s","ahp-terminal:/%s"]}}`,
		i, term, s.term())
	if err := m.write([]byte(hello)); err != nil {
		cut()
		return nil, err
	}
	if err := m.read(); err != nil {
		cut()
		return nil, fmt.Errorf("initialize: %w", err)
	}
	seq := 0
	return &peer{
		read: m.read,
		typing: func() error {
			seq++
			return m.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"dispatchAction","params":{`+
				`"channel":"ahp-terminal:/%s","clientSeq":%d,`+
				`"action":{"type":"terminal/input","data":"k"}}}`, term, seq))
		},
		leave: m.close,
		cut:   cut,
	}, nil
}

// webSocket is messages in frames.
type webSocket struct{ *websocket.Conn }

func (w webSocket) write(msg []byte) error { return w.WriteMessage(websocket.TextMessage, msg) }

func (w webSocket) read() error {
	_, r, err := w.NextReader()
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

func (w webSocket) close() {
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = w.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(time.Second))
	w.Close()
}

func (s *soak) overWebSocket(i int) (*peer, error) {
	cut := func() {}
	d := websocket.Dialer{HandshakeTimeout: patience,
		NetDial: func(_, addr string) (c net.Conn, err error) {
			c, cut, err = s.dial(addr)
			return c, err
		}}
	header := http.Header{"Authorization": {"Bearer " + s.tokens[i%len(s.tokens)]}}
	c, _, err := d.Dial(s.url("ws", "/ahp"), header)
	if err != nil {
		return nil, err
	}
	return s.ahp(i, webSocket{c}, cut)
}

// lines are messages on an SSH channel.
type lines struct {
	client *ssh.Client
	in     io.Writer
	out    *bufio.Reader
}

func (l lines) write(msg []byte) error {
	_, err := l.in.Write(append(msg, '\n'))
	return err
}

func (l lines) read() error {
	_, err := l.out.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil // a part of a long one
	}
	return err
}

func (l lines) close() { l.client.Close() }

func (s *soak) overSubsystem(i int) (*peer, error) {
	c, cut, err := s.login(i)
	if err != nil {
		return nil, err
	}
	l := lines{client: c}
	session, err := c.NewSession()
	if err == nil {
		l.in, err = session.StdinPipe()
	}
	var out io.Reader
	if err == nil {
		out, err = session.StdoutPipe()
	}
	if err == nil {
		err = session.RequestSubsystem("ahp")
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	l.out = bufio.NewReaderSize(out, 64<<10)
	return s.ahp(i, l, cut)
}

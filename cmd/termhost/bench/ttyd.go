package bench

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os/exec"
	"sync"

	"github.com/gorilla/websocket"
)

// startTTYD starts ttyd, which runs one program; the program is a shell that reads its line first.
func (rs *Rivals) startTTYD(path string) error {
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(addr) // freeAddress has joined them
	cmd := exec.Command(path, "-i", "127.0.0.1", "-p", port, "-W", "-w", rs.dir,
		"sh", "-c", `stty -echo; IFS= read -r line; stty echo; exec sh -c "$line"`)
	pid, err := rs.start("ttyd", addr, cmd)
	if err != nil {
		return err
	}
	r := &Rival{Name: "ttyd", pid: pid, dir: rs.dir, names: []string{"ttyd"}}
	r.Version = version(path, "--version")
	r.open = func(line string) (*Session, error) { return openTTYD("ws://"+addr+"/ws", line) }
	r.socket = func() (end func(), err error) {
		s, err := r.Open(idleProgram())
		if err != nil {
			return nil, err
		}
		return s.Close, nil
	}
	rs.List = append(rs.List, r)
	return nil
}

// ttyd is a connection to it: every message has a byte before it that says what it is.
type ttyd struct {
	*websocket.Conn
	writing sync.Mutex
	rest    []byte // of the output
}

// ttydData says that a message is input, or output.
const ttydData = '0'

func openTTYD(url, line string) (*Session, error) {
	d := websocket.Dialer{Subprotocols: []string{"tty"}}
	c, _, err := d.Dial(url, nil)
	if err != nil {
		return nil, err
	}
	t := &ttyd{Conn: c}
	hello := []byte(`{"AuthToken":"","columns":80,"rows":24}`)
	if err = c.WriteMessage(websocket.BinaryMessage, hello); err == nil {
		_, err = t.Write([]byte(line + "\r"))
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return &Session{In: t, Out: t, end: func() { c.Close() }}, nil
}

func (t *ttyd) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	return len(p), t.WriteMessage(websocket.BinaryMessage, append([]byte{ttydData}, p...))
}

func (t *ttyd) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		_, msg, err := t.ReadMessage()
		var closed *websocket.CloseError
		switch {
		case errors.As(err, &closed):
			return 0, io.EOF
		case err != nil:
			return 0, err
		case bytes.HasPrefix(msg, []byte{ttydData}):
			t.rest = msg[1:]
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

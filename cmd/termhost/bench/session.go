package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// Session is a viewer of a terminal.
type Session struct {
	In  io.Writer
	Out io.Reader // ends with the program

	end     func()      // ends the connection
	stall   func()      // has the client's machine read nothing more; nil: it cannot
	program *os.Process // which ends with the session; nil: it goes on
	closing sync.Once
}

// Close ends the connection and, unless the terminal was there before, its program. It may be
// called again.
func (s *Session) Close() {
	s.closing.Do(func() {
		s.end()
		if s.program != nil {
			_ = s.program.Kill() // it may have ended
		}
	})
}

// window is the size of a viewer's window. The zero value is 80 x 24.
type window struct{ columns, rows int }

// startSSH runs a command on a pty of a connection, which the Session closes.
func startSSH(c *ssh.Client, command string, w window) (*Session, error) {
	s, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	if w == (window{}) {
		w = window{80, 24}
	}
	out := &Session{end: func() { c.Close() }}
	if conn, ok := c.Conn.(stallableSSH); ok {
		out.stall = conn.below.stall
	}
	err = s.RequestPty("xterm-256color", w.rows, w.columns, nil)
	if err == nil {
		out.In, err = s.StdinPipe()
	}
	if err == nil {
		out.Out, err = s.StdoutPipe()
	}
	if err == nil {
		err = s.Start(command)
	}
	return out, err
}

// program is what runs in a terminal: shell that prepares the terminal, and shell that runs when
// this has printed [ready].
type program struct{ prepare, run string }

// line returns the program as a line that writes the id of its process to a file. Any shell runs
// it, also one that is not like sh.
func (p program) line(file string) string {
	text := p.prepare + " echo $$ >" + file + "; " + sayReady + p.run
	return "exec sh -c " + quote(text)
}

// ready is what programs print when they have started, and sayReady has them print it. The command
// line itself, which may be shown as a title, does not contain it.
const (
	ready    = "ready"
	sayReady = `printf "rea%s\n" dy; `
)

// Open logs in, runs a program on a terminal of 80 x 24 and waits until it is ready.
func (r *Rival) Open(p program) (*Session, error) {
	file := r.pidFile(r.newName())
	s, err := r.open(p.line(file))
	if err != nil {
		return nil, err
	}
	if err = within(s, func() error { return await(s.Out, ready) }); err == nil {
		s.program, err = processOf(file)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// pidFile is where the program of a terminal writes its id, unless it runs elsewhere.
func (r *Rival) pidFile(name string) string {
	if r.dir == "" {
		return os.DevNull
	}
	return r.dir + "/" + name + ".pid"
}

// processOf returns the process that has written its id to a file, which is deleted; nil: it has
// not yet.
func processOf(file string) (*os.Process, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.HasSuffix(string(text), "\n") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file); err != nil {
		return nil, err
	}
	return os.FindProcess(pid) // a handle, which stays this process's when the id is used again
}

// await reads until text has come.
func await(r io.Reader, text string) error {
	var seen []byte // the last of it
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		seen = append(seen, buf[:n]...)
		if bytes.Contains(seen, []byte(text)) {
			return nil
		}
		const enough = 200 // more than text
		seen = append(seen[:0], seen[max(0, len(seen)-enough):]...)
		if err != nil {
			return fmt.Errorf("waiting for %q: %w; read %q", text, err, seen)
		}
	}
}

// within does something with a session, and closes it if that takes too long.
func within(s *Session, do func() error) error {
	late := time.AfterFunc(2*patience, s.Close)
	defer late.Stop()
	return do()
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

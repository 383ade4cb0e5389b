package bench

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
)

// Session is a program on a terminal of 80 x 24 behind a server.
type Session struct {
	In    io.Writer
	Out   io.Reader // ends with the program
	Close func()    // ends the connection
}

// startSSH runs a command on a pty of a connection, which the Session closes.
func startSSH(c *ssh.Client, command string) (*Session, error) {
	s, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	out := &Session{Close: func() { c.Close() }}
	err = s.RequestPty("xterm-256color", 24, 80, nil)
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

// ready is what programs print when they have started, and sayReady has them print it. The command
// line itself, which may be shown as a title, does not contain it.
const (
	ready    = "ready"
	sayReady = `printf "rea%s\n" dy; `
)

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

// echoKeys are what is typed in turn: characters that no escape sequence ends with.
const echoKeys = "xzqvwy&^"

// echoProgram has the terminal echo keys one by one, and reads them.
const echoProgram = "stty -icanon; " + sayReady + "exec cat >/dev/null"

// Echo types a key and waits for its echo, the i-th time.
func (s *Session) Echo(i int) (time.Duration, error) {
	key := echoKeys[i%len(echoKeys)]
	var buf [4096]byte
	start := time.Now()
	if _, err := s.In.Write([]byte{key}); err != nil {
		return 0, err
	}
	for {
		n, err := s.Out.Read(buf[:])
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte(buf[:n], key) >= 0 {
			return time.Since(start), nil
		}
	}
}

// Percentile returns a percentile of durations, which are sorted.
func Percentile(list []time.Duration, percent int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)*percent/100]
}

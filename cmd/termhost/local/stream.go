package local

import (
	"io"

	gossh "golang.org/x/crypto/ssh"
)

// Open starts a command line on pipes, which the returned stream is joined to. What the command
// prints on standard error goes to stderr. Closing the stream closes the client.
func (c *Client) Open(line string, stderr io.Writer) (io.ReadWriteCloser, error) {
	s, err := c.ssh.NewSession()
	if err != nil {
		c.Close()
		return nil, err
	}
	p := &stream{client: c, session: s}
	s.Stderr = stderr
	if p.in, err = s.StdinPipe(); err == nil {
		p.out, err = s.StdoutPipe()
	}
	if err == nil {
		err = s.Start(line)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return p, nil
}

// stream is a command that runs on pipes.
type stream struct {
	client  *Client
	session *gossh.Session
	in      io.WriteCloser
	out     io.Reader
}

// Read reads what the command prints. At the end, all that it has printed on standard error has
// been written.
func (p *stream) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if n > 0 || err == nil {
		return n, nil
	}
	if _, lost := exitStatus(p.session.Wait()); lost != nil {
		return 0, lost
	}
	return 0, io.EOF
}

// Write writes what the command reads.
func (p *stream) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the command and the connection.
func (p *stream) Close() error { return p.client.Close() }

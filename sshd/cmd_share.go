package sshd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"termhost/ahp/host"
)

// shareRead is how much of a shared stream is read at a time, in bytes: two full
// packets.
const shareRead = 64 << 10

// runShare makes standard input the output of a terminal that everybody may
// watch and nobody types into.
func runShare(v *invocation) int {
	fs := v.flags()
	var o host.ShareOptions
	fs.StringVar(&o.Name, "n", "", "")
	fs.IntVar(&o.Cols, "cols", 0, "")
	fs.IntVar(&o.Rows, "rows", 0, "")
	fs.BoolVar(&o.Pty, "raw", false, "")
	if v.rest != "" {
		return v.misused("share runs no command; `COMMAND | ssh HOST share` shows what one prints")
	}
	_, status, done := v.parse(fs, 0, 0)
	switch {
	case done:
		return status
	case v.s.pty != nil:
		return v.misused("share reads standard input: connect without a terminal (ssh without -t)")
	case given(fs, "cols") != given(fs, "rows"):
		return v.misused("--cols and --rows go together")
	case given(fs, "cols") && (o.Cols < 1 || o.Cols > host.MaxCols || o.Rows < 1 || o.Rows > host.MaxRows):
		return v.misused("--cols must be 1 to %d and --rows 1 to %d", host.MaxCols, host.MaxRows)
	}
	sh, err := v.conn().Share(o)
	if err != nil {
		return v.failed(err)
	}
	defer sh.Close()
	name := sh.Terminal().Name()
	fmt.Fprintf(v.stderr, "termhost: standard input is shown as %s to everybody who may log in; `%s` watches\n", name, v.s.c.comeBack(name))
	return v.share(sh, o.Pty)
}

// share shows what the peer sends until it ends. A stream that ends in good
// order is an exit with 0.
func (v *invocation) share(sh *host.Share, raw bool) int {
	ended := make(chan error, 1)
	v.s.running.Go(func() {
		defer v.s.c.recovered("reading what is shared")
		ended <- v.pump(sh, raw)
	})
	var err error
	select {
	case err = <-ended:
	case <-sh.Terminal().Done():
	case <-v.s.ctx.Done():
	}
	if _, over := sh.Terminal().Exit(); over {
		err = host.ErrExited
	}
	switch {
	case err == nil && v.s.ctx.Err() == nil && v.s.answers():
		sh.Exit(statusOK)
		return statusOK
	case errors.Is(err, host.ErrExited):
		why := sh.Disposed()
		if why == "" {
			why = "ended " + cmp.Or(sh.Terminal().EndedBy(), "by the host")
		}
		fmt.Fprintf(v.stderr, "termhost: %s was %s\n", sh.Terminal().Name(), host.Printable(why))
		return statusFailed
	case err != nil && v.s.ctx.Err() == nil:
		return v.failed(err)
	case v.s.c.ctx.Err() != nil: // the host ends the connection, or it is lost and nobody reads this
		fmt.Fprintf(v.stderr, "termhost: %s; %s ends with it\n", host.Printable(context.Cause(v.s.ctx).Error()), sh.Terminal().Name())
	}
	return statusLost
}

// pump passes on what the peer sends. It returns nil at the end.
func (v *invocation) pump(sh *host.Share, raw bool) error {
	buf := make([]byte, shareRead)
	var lines lineEnds
	for {
		n, err := v.s.ch.Read(buf)
		p := buf[:n]
		if !raw {
			p = lines.convert(p)
		}
		if n > 0 {
			notice, err := sh.Output(v.s.ctx, p)
			if notice != "" {
				fmt.Fprintf(v.stderr, "termhost: %s\n", notice)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// answers reports whether the peer is still there. A channel ends for its reader
// in the same way whether the peer said that it has no more to send or its
// connection was lost; only a peer that is there answers (RFC 4254 section 5.4:
// also to a request that it does not know).
func (s *sshSession) answers() bool {
	alive := make(chan bool, 1)
	s.running.Go(func() {
		defer s.c.recovered("asking for an answer")
		_, err := s.ch.SendRequest("keepalive@openssh.com", true, nil)
		alive <- err == nil
	})
	select {
	case ok := <-alive:
		return ok
	case <-s.ctx.Done():
		return false
	}
}

// lineEnds makes \r\n of each \n that has no \r before it, however the stream is
// cut: a stream that comes from no terminal has lost them there.
type lineEnds struct {
	last byte // of what came before
	buf  []byte
}

// convert returns p converted, which is valid until the next call.
func (l *lineEnds) convert(p []byte) []byte {
	out := l.buf[:0]
	for _, b := range p {
		if b == '\n' && l.last != '\r' {
			out = append(out, '\r')
		}
		out = append(out, b)
		l.last = b
	}
	l.buf = out
	return out
}

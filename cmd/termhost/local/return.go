package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/sshd/wire"
)

// Return is how a command comes back to the terminal that it shows when the connection is lost. The
// zero value: it does not.
//
// What ends otherwise stays ended: a command with another status than [StatusLost], a terminal
// whose program has exited, and a login that the host refuses.
type Return struct {
	For    time.Duration // how long it tries; 0: not at all
	Prefix byte          // the key that ends the attempts with a d behind it, as ^C does; 0: none
	// Dial makes another connection. An error that wraps ErrRefused ends the attempts.
	Dial func(ctx context.Context) (*Client, error)
	// Line returns the command line that shows the terminal of a NAME again.
	Line func(name string, readOnly bool) string
}

// ErrRefused is wrapped by the error for a host that does not let the user in.
var ErrRefused = errors.New("the login is refused")

const (
	// An attempt to connect follows the one before after a random time of at most minPause * 2^n,
	// and maxPause: a host that restarts is back within a second.
	minPause, maxPause = 50 * time.Millisecond, 5 * time.Second
	// attemptTime bounds an attempt.
	attemptTime = 30 * time.Second
	// quietTime is how long the host may be away before the user is told why it is not reached.
	quietTime = 5 * time.Second
)

// absence is the time from the loss of a connection until a terminal is shown again.
type absence struct {
	at    wire.Shows // the terminal; without a Name, nothing is to be shown again
	began time.Time
	tried int    // how many attempts there were
	said  string // why the host is not reached, as the user was told last
}

// all runs the command and, whenever no more than the connection has ended, shows again what it has
// shown.
func (r *run) all(first *Client, s *gossh.Session) (end ending) {
	var a absence
	for c, line := first, r.cmd.Line; ; {
		end = r.session(c, s, line)
		lost := r.t.isTerminal() && end.isLost()
		if lost || c != first {
			c.Close()
		}
		if !lost {
			return end
		}
		r.keys.loseAll()
		<-c.taken.ended
		if at, known := c.taken.showing(); known {
			a = absence{at: at, began: time.Now()}
		}
		if r.cmd.Return.For == 0 || a.at.Name == "" {
			if end.err != nil {
				r.t.sane()
			}
			return end
		}
		next, end := r.comeBack(&a)
		if next == nil {
			return end
		}
		r.back = true
		c, s, line = next.client, next.session, r.cmd.Return.Line(a.at.Name, a.at.ReadOnly)
	}
}

// connected is a session on a new connection.
type connected struct {
	client  *Client
	session *gossh.Session
}

// comeBack connects again. If that fails, or the user does not wait for it, next is nil, and the
// run ends so.
func (r *run) comeBack(a *absence) (next *connected, end ending) {
	back := &r.cmd.Return
	r.keys.leaveBy(back.Prefix)
	if a.tried == 0 {
		r.t.hold("connection lost; trying again for %s; keys are dropped; ^C gives up",
			short(back.For))
	}
	ctx, stop := context.WithDeadline(context.Background(), a.began.Add(back.For))
	defer stop()
	for ; ; a.tried++ {
		pause, resume := context.WithTimeout(ctx, a.pause())
		end, stopped := r.meanwhile(pause.Done())
		resume()
		switch {
		case stopped:
			return nil, end
		case ctx.Err() != nil:
			return nil, ending{err: fmt.Errorf("%w, and is not back after %s", ErrHostGone,
				short(back.For))}
		}
		var c *Client
		if c, end, stopped = r.dial(ctx); stopped {
			return nil, end
		}
		switch err := end.err; {
		case err == nil:
			if next, end, stopped = r.reopen(c, a); next != nil || stopped {
				a.tried++
				return next, end
			}
		case errors.Is(err, ErrRefused):
			return nil, ending{err: fmt.Errorf("%w: %w", ErrHostGone, err)}
		case time.Since(a.began) > quietTime && err.Error() != a.said:
			a.said = err.Error()
			r.t.hold("not yet: %s; ^C gives up", a.said)
		}
	}
}

// short writes d without minutes and seconds that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// pause returns how long to wait before the next attempt.
func (a *absence) pause() time.Duration {
	if a.tried == 0 {
		return 0
	}
	const maxShift = 10
	return rand.N(min(minPause<<min(a.tried, maxShift), maxPause)) + time.Millisecond
}

// dial makes a connection, or end has the error, unless the run has to end meanwhile.
func (r *run) dial(ctx context.Context) (c *Client, end ending, stopped bool) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		c, err = r.cmd.Return.Dial(ctx)
	}()
	end, stopped = r.meanwhile(done)
	cancel()
	<-done
	switch {
	case !stopped:
		end.err = err
	case err == nil:
		c.Close()
	}
	return c, end, stopped
}

// reopen begins a session on a new connection, when the user is not in the middle of a line whose
// beginning was dropped. It returns nil, and has closed c, if the connection is lost again or, with
// stopped, if the run has to end.
func (r *run) reopen(c *Client, a *absence) (next *connected, end ending, stopped bool) {
	if sig := r.keys.settle(time.Time{}, r.t.signals, r.bell); sig != nil {
		c.Close()
		return nil, ending{sig: sig}, true
	}
	select {
	case <-r.keys.left:
		c.Close()
		return nil, r.leave(), true
	default:
	}
	text := "connected again"
	if away := time.Since(a.began).Truncate(time.Second); away > 0 {
		text += " after " + away.String()
	}
	if lost := r.keys.notTyped(); lost != "" {
		text += "; " + lost
	}
	s, err := r.open(c)
	if err == nil {
		arrival := gossh.Marshal(&wire.Arrival{Text: text})
		if _, err = s.SendRequest(wire.Arrives, false, arrival); err != nil {
			r.t.endEcho(r.echo)
			s.Close()
		}
	}
	if err != nil {
		c.Close()
		return nil, end, false
	}
	return &connected{c, s}, end, false
}

// meanwhile waits until done is closed, unless the run has to end before: then stopped is true. The
// user hears that keys are dropped.
func (r *run) meanwhile(done <-chan struct{}) (end ending, stopped bool) {
	for {
		select {
		case <-done:
			return ending{}, false
		case <-r.keys.left:
			return r.leave(), true
		case <-r.keys.dropped:
			r.bell()
		case sig := <-r.t.signals:
			return ending{sig: sig}, true
		case <-r.keys.ended:
			return ending{err: ErrHostGone}, true
		}
	}
}

// leave is how a run ends whose user does not wait for the host.
func (r *run) leave() ending {
	r.t.say("the terminal goes on, unless its machine has stopped")
	return ending{status: StatusLost, left: true}
}

// bell tells the user that a key was dropped.
func (r *run) bell() { r.t.tty.WriteSoon("\a") }

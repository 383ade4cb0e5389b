package mcpproxy

import (
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"strconv"
	"time"
)

// RefusedError says that the host does not let the user in until the user does something about it.
type RefusedError struct {
	Line  string        // what ssh has said
	Pause time.Duration // the next attempt is made after it
}

func (e *RefusedError) Error() string { return e.Line }

var errNoHost = errors.New("what answers is not termhost's MCP")

// unreached says why a request is not answered.
func (p *proxy) unreached(w *pending) string {
	why := p.cfg.Host + " cannot be reached"
	if p.away != "" {
		why += " (" + p.away + ")"
	}
	switch {
	case p.err != nil:
	case p.refused.After(time.Now()):
		why += ". The next attempt is made in " +
			time.Until(p.refused).Round(time.Second).String()
	case !w.sent:
		why += ". This was not sent, so nothing was done: try again later"
	}
	return why
}

// lostText is the result of a call whose answer was lost.
func (p *proxy) lostText() string {
	return "the connection to " + p.cfg.Host + " was lost before the answer came. " +
		"It is not known whether the call has begun; what runs there goes on. " +
		"Before you call again, see what there is: terminal_list {}"
}

// dial begins to connect.
func (p *proxy) dial() {
	p.dialing++
	p.dialAt, p.begun = time.Time{}, time.Now()
	number := p.dialing
	if !p.was {
		p.cfg.Notice("connecting to " + p.cfg.Host)
	}
	p.tasks.Go(func() {
		conn, err := p.cfg.Dial(p.ctx)
		select {
		case p.dialed <- dialled{number, conn, err}:
		case <-p.ctx.Done():
			if err == nil {
				_ = conn.Close()
			}
		}
	})
}

// connected takes a new connection. The first thing on it is a ping: only its answer tells that
// there is a host, and where what was printed before MCP ends.
func (p *proxy) connected(d dialled) {
	switch {
	case d.number != p.dialing: // it was given up
		if d.err == nil {
			p.tasks.Go(func() { _ = d.conn.Close() })
		}
		return
	case d.err != nil:
		p.fail(d.err)
		return
	}
	l := newLink(d.conn, p.emitter(p.host))
	p.link = l
	p.ask(methodPing, p.introduction(), func(*message) { p.greet() })
}

// introduction returns the params of the first ping: who the client is among those that call
// themselves the same, so that the host gives it its own place again.
func (p *proxy) introduction() []byte {
	return fmt.Appendf(nil, `{"_meta":{%q:%q,%q:%d}}`, metaInstance, p.prefix, metaNumber,
		p.number)
}

// greet sets up on a new connection what the client has set up.
func (p *proxy) greet() {
	if p.hello == nil {
		p.open()
		return
	}
	p.ask(methodInitialize, p.hello.params, func(answer *message) {
		if answer.failed {
			p.fail(fmt.Errorf("the host refuses: %s",
				text(member(answer.line, "error", "message"))))
			return
		}
		if p.initialized != nil {
			p.link.out.put(p.initialized.line)
		}
		for _, params := range p.subscribed {
			p.ask(methodSubscribe, params, func(*message) {})
		}
		p.open()
	})
}

// open sends what waits for the connection.
func (p *proxy) open() {
	p.link.ready = true
	switch {
	case !p.was:
		p.cfg.Notice("connected to " + p.cfg.Host)
	default:
		p.cfg.Notice("connected to " + p.cfg.Host + " again")
	}
	p.was, p.away, p.opened, p.refused = true, "", time.Now(), time.Time{}
	if p.ended {
		p.leave = time.Now().Add(p.limits.leave)
	}
	p.flush()
}

// ask sends a request of the proxy's own.
func (p *proxy) ask(method string, params []byte, answered func(*message)) {
	p.ownCount++
	id := p.prefix + strconv.Itoa(p.ownCount)
	p.link.own["s"+id] = answered
	p.link.out.put(request(id, method, params))
}

// ping asks the host for a sign of life, which has to come within a time.
func (p *proxy) ping(within time.Duration) {
	due := time.Now().Add(within)
	if p.link.due.IsZero() {
		p.ask(methodPing, nil, func(*message) {})
	}
	if p.link.due.IsZero() || due.Before(p.link.due) {
		p.link.due = due
	}
}

// fail gives up the connection, or the attempt to make one.
func (p *proxy) fail(why error) {
	if l := p.link; l != nil {
		p.link = nil
		p.tasks.Go(l.close)
	}
	p.dialing++
	reason := why.Error()
	if !p.was {
		p.away = reason
		p.err = fmt.Errorf("cannot reach the host: %w", why)
		p.leave = time.Now().Add(p.limits.lastWord)
		p.giveUp()
		return
	}
	p.requeue()
	var refused *RefusedError
	switch {
	case errors.As(why, &refused):
		p.refused = time.Now().Add(refused.Pause)
		p.dialAt = p.refused
		reason = "the login is refused: " + reason
	case p.away == "" && time.Since(p.opened) > p.limits.lasting:
		p.dialAt, p.tried = time.Now(), 0
	default:
		p.dialAt = time.Now().Add(p.pause())
		p.tried++
	}
	if p.away == "" {
		p.cfg.Notice("the connection to " + p.cfg.Host + " is lost, and is made again: " + reason)
	} else if p.away != reason {
		p.cfg.Notice(p.cfg.Host + " cannot be reached yet: " + reason)
	}
	p.away = reason
}

// giveUp tells the client why there is no host, and ends. A client that has asked nothing yet may
// be about to: more people see what it is answered than standard error.
func (p *proxy) giveUp() {
	for _, w := range p.waiting {
		p.out.put(w.failure(p.unreached(w)))
	}
	p.finish = len(p.waiting) > 0
}

// pause returns a random time before the next attempt.
func (p *proxy) pause() time.Duration {
	longest := p.limits.maxPause
	if len(p.waiting) > 0 {
		longest = p.limits.hurry
	}
	const maxShift = 16
	return mathrand.N(min(p.limits.minPause<<min(p.tried, maxShift), longest)) + time.Millisecond
}

// lost takes the end of the connection.
func (p *proxy) lost(err error) {
	if errors.Is(err, io.EOF) {
		err = errors.New("the host has closed it")
		if !p.was {
			err = errNoHost
		}
	}
	p.fail(err)
}

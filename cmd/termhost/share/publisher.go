package share

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
)

// ownerGrace is how long the host is asked to keep the terminal while its owner is disconnected.
// The host may allow less.
const ownerGrace = "5m"

// publisher sends the outbox to the host and keeps the terminal there. Its run method has a
// goroutine of its own; the others may be called concurrently.
type publisher struct {
	client  *client.Client
	outbox  *outbox
	tee     *tee
	notices *notices
	dialer  *patientDialer

	params  ahp.CreateTerminalParams // of the terminal; mu guards Channel once run is called
	renames bool                     // where the name is taken, another one will do

	changed chan struct{} // 1 deep: state is not nil
	ended   chan struct{} // closed when nothing is shared any more
	endOnce sync.Once

	mu     sync.Mutex    // nothing else is locked while it is held
	state  *client.State // the newest change of the connection that run has not dealt with
	conn   int64         // number of the connection to send on; 0: none
	reason string        // why the host has ended the terminal; "": it has not
}

func newPublisher(b *outbox, t *tee, n *notices, d *patientDialer) *publisher {
	return &publisher{outbox: b, tee: t, notices: n, dialer: d,
		changed: make(chan struct{}, 1), ended: make(chan struct{})}
}

// begin is called when the terminal has been made on the first connection. If that is still
// there, run may send on it.
func (p *publisher) begin() {
	const first = 1
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.state; s != nil && s.Connected && s.Conn == first {
		p.state, p.conn = nil, first
	}
}

// uri returns the terminal's channel.
func (p *publisher) uri() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.params.Channel
}

// onState is called by the client when the connection was made or lost. Of several changes only
// the last one counts.
func (p *publisher) onState(s client.State) {
	p.mu.Lock()
	p.state, p.conn = &s, 0
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// onAction is called by the client for actions on the terminal. As it is not subscribed to, the
// only one is its end.
func (p *publisher) onAction(channel string, a ahp.Action) {
	if end, ok := a.(ahp.TerminalExited); ok && channel == p.uri() {
		p.stop(end.Notice)
	}
}

// stop ends sharing. reason is what the host says about it, or "" if the host has not ended it.
func (p *publisher) stop(reason string) {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = reason
	}
	p.mu.Unlock()
	p.endOnce.Do(func() { close(p.ended) })
}

// giveUp ends sharing, and tells the user why. The program goes on.
func (p *publisher) giveUp(why string) {
	p.notices.show(why)
	p.stop("")
}

// endReason returns why the host has ended the terminal, or "" if it has not.
func (p *publisher) endReason() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason
}

// run sends until sharing ends or ctx does.
func (p *publisher) run(ctx context.Context) {
	for {
		select {
		case <-p.ended:
			return
		case <-ctx.Done():
			return
		case <-p.client.Done():
			p.giveUp("sharing has ended: " + p.client.Err().Error())
			return
		case <-p.changed:
			p.mu.Lock()
			s := p.state
			p.state = nil
			p.mu.Unlock()
			if s != nil {
				p.connectionChanged(ctx, *s)
			}
		case <-p.outbox.wake:
		}
		p.send(ctx)
	}
}

// connectionChanged deals with a connection that was made or lost.
func (p *publisher) connectionChanged(ctx context.Context, s client.State) {
	if !s.Connected {
		p.outbox.disconnected()
		return
	}
	t, known := s.Owned[p.uri()]
	switch {
	case t.Ended != "":
		p.stop(t.Ended)
		return
	case known:
		p.outbox.resume(t.ClientSeq)
	default: // the host was started anew, or has given the terminal up
		if err := p.createAgain(ctx); err != nil {
			if !errors.Is(err, client.ErrLost) {
				p.giveUp("sharing has ended, because the terminal could not be made again: " +
					err.Error())
			}
			return
		}
		p.outbox.startOver()
	}
	p.mu.Lock()
	if p.state == nil { // else this connection is lost already
		p.conn = s.Conn
	}
	p.mu.Unlock()
	if p.dialer.accepted() {
		p.notices.show("the host takes the login again, and others see this terminal")
	}
}

// create makes the terminal. Where its name is taken and another one will do, it gets the next
// free one.
func (p *publisher) create(ctx context.Context) error {
	const most = 100
	p.mu.Lock()
	params := p.params
	p.mu.Unlock()
	cols, rows := p.tee.size()
	params.Cols, params.Rows = &cols, &rows
	first := params.Channel
	for n := 2; ; n++ {
		err := p.client.CreateTerminal(ctx, params)
		var refused *ahp.Error
		taken := errors.As(err, &refused) && refused.Code == ahp.CodeTerminalExists
		switch {
		case err == nil:
			p.mu.Lock()
			p.params.Channel = params.Channel
			p.mu.Unlock()
			return nil
		case !taken || !p.renames || n > most:
			return err
		}
		params.Channel = fmt.Sprintf("%s-%d", first, n)
	}
}

// createAgain makes the terminal at a host that does not have it any more.
func (p *publisher) createAgain(ctx context.Context) error {
	before := p.uri()
	p.renames = true // another name is better than not to be shown
	err := p.create(ctx)
	if after := p.uri(); err == nil && after != before {
		name, _ := ahp.TerminalName(after)
		p.notices.show("this terminal is now shown as " + name)
	}
	return err
}

// send sends what the outbox has to send.
func (p *publisher) send(ctx context.Context) {
	for {
		p.mu.Lock()
		conn, uri := p.conn, p.params.Channel
		p.mu.Unlock()
		if conn == 0 {
			return
		}
		i, drained := p.outbox.next()
		if i == nil {
			if !drained {
				return
			}
			p.tee.draw()
			continue
		}
		seq, err := p.client.Post(ctx, conn, uri, i.action,
			func(notice string, err error) { p.answered(i, notice, err) })
		if err != nil {
			return // the connection is lost, with everything in flight
		}
		p.outbox.sent(i, seq)
	}
}

// answered is called when the host has accepted or refused an item, or when the connection was
// lost before that.
func (p *publisher) answered(i *item, notice string, err error) {
	if notice != "" {
		p.notices.keep(notice)
	}
	var refused *client.Rejected
	switch {
	case err == nil:
		p.outbox.settled(i)
	case errors.As(err, &refused):
		p.outbox.settled(i)
		switch i.action.(type) {
		case ahp.TerminalOutput, ahp.TerminalExited:
			p.giveUp("sharing has ended, because the host takes no more: " + refused.Reason)
		}
	}
}

// finish waits until the host has everything, if it is connected or may be again soon. It returns
// whether the host has everything.
func (p *publisher) finish(within time.Duration) bool {
	deadline := time.After(within)
	poll := time.NewTicker(10 * time.Millisecond) // nothing tells of the last acknowledgement
	defer poll.Stop()
	for !p.outbox.empty() {
		if p.dialer.waits() {
			return false
		}
		select {
		case <-p.ended:
			return false
		case <-deadline:
			return false
		case <-poll.C:
		}
	}
	return true
}

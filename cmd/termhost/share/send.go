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

// publisher carries the journal to the host and keeps the terminal there. Its run
// method has a goroutine of its own; the others may be called concurrently.
type publisher struct {
	client  *client.Client
	journal *journal
	feed    *feed
	params  ahp.CreateTerminalParams // of the terminal
	names   bool                     // another name may be taken where this one is gone
	news    *news                    // for the user
	link    *patientLink

	states chan client.State // the newest change of the connection
	ended  chan struct{}     // closed when nothing is shared any more

	mu       sync.Mutex
	conn     int64  // the connection; 0: none
	disposed string // by whom, as a sentence; "": not
	once     sync.Once
}

// grace is how long the host is asked to keep the terminal for an owner that
// is away; it may allow less.
const grace = "5m"

func newPublisher(j *journal, f *feed, n *news, l *patientLink) *publisher {
	return &publisher{journal: j, feed: f, news: n, link: l, states: make(chan client.State, 1), ended: make(chan struct{})}
}

// begin is called once the terminal has been made on the first connection.
func (p *publisher) begin() {
	const first = 1
	select {
	case s := <-p.states:
		if s.Connected && s.Link == first {
			p.conn = first
			return
		}
		p.states <- s // it was lost since, or there is another one
	default:
	}
}

// uri returns the terminal's channel.
func (p *publisher) uri() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.params.Channel
}

// onState is told of the connection by the client.
func (p *publisher) onState(s client.State) {
	p.mu.Lock()
	p.conn = 0
	p.mu.Unlock()
	select { // an older one that nobody has looked at does not count any more
	case <-p.states:
	default:
	}
	p.states <- s
}

// onAction is told by the client of actions on the terminal, which is not
// followed: of its end.
func (p *publisher) onAction(channel string, a ahp.Action) {
	if end, ok := a.(ahp.TerminalExited); ok && channel == p.uri() {
		p.stop(end.Notice)
	}
}

// stop ends sharing: why is what the host says of it; "": it is over by itself.
func (p *publisher) stop(why string) {
	p.mu.Lock()
	if p.disposed == "" {
		p.disposed = why
	}
	p.mu.Unlock()
	p.once.Do(func() { close(p.ended) })
}

// over ends sharing for a reason that is not the host's wish: the program goes on.
func (p *publisher) over(why string) {
	p.news.tell(why)
	p.stop("")
}

// why returns why the host has ended the terminal; "": it has not.
func (p *publisher) why() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.disposed
}

// run sends until the terminal is over or ctx ends.
func (p *publisher) run(ctx context.Context) {
	for {
		select {
		case <-p.ended:
			return
		case <-ctx.Done():
			return
		case <-p.client.Done():
			p.over("sharing has ended: " + p.client.Err().Error())
			return
		case s := <-p.states:
			p.changed(ctx, s)
		case <-p.journal.wake:
		}
		p.send(ctx)
	}
}

// changed deals with a connection that was lost or made.
func (p *publisher) changed(ctx context.Context, s client.State) {
	if !s.Connected {
		p.journal.cut()
		return
	}
	t, known := s.Owned[p.uri()]
	switch {
	case t.Ended != "":
		p.stop(t.Ended)
		return
	case known:
		p.journal.resume(t.ClientSeq)
	default: // the host was started anew, or we were away for too long
		if err := p.again(ctx); err != nil {
			if !errors.Is(err, client.ErrLost) {
				p.over("sharing has ended, because the terminal could not be made again: " + err.Error())
			}
			return
		}
		p.journal.anew()
	}
	p.mu.Lock()
	p.conn = s.Link
	p.mu.Unlock()
	if p.link.taken() {
		name, _ := ahp.TerminalName(p.uri())
		p.news.tell("the host takes the login again: this terminal is shown as " + name)
	}
}

// create makes the terminal. Where the name is taken and need not be that one,
// the next free one is.
func (p *publisher) create(ctx context.Context) error {
	const most = 100
	p.mu.Lock()
	params := p.params
	p.mu.Unlock()
	cols, rows := p.feed.size()
	params.Cols, params.Rows = &cols, &rows
	first := params.Channel
	for n := 2; ; n++ {
		err := p.client.CreateTerminal(ctx, params)
		var refused *ahp.Error
		if !errors.As(err, &refused) || refused.Code != ahp.CodeTerminalExists || !p.names || n > most {
			if err == nil {
				p.mu.Lock()
				p.params.Channel = params.Channel
				p.mu.Unlock()
			}
			return err
		}
		params.Channel = fmt.Sprintf("%s-%d", first, n)
	}
}

// again makes the terminal anew at a host that does not have it any more.
func (p *publisher) again(ctx context.Context) error {
	before := p.uri()
	p.names = true // to be seen under another name is better than not to be
	err := p.create(ctx)
	if after := p.uri(); err == nil && after != before {
		name, _ := ahp.TerminalName(after)
		p.news.tell("this terminal is now shown as " + name)
	}
	return err
}

// send sends what there is to send.
func (p *publisher) send(ctx context.Context) {
	for {
		p.mu.Lock()
		link, uri := p.conn, p.params.Channel
		p.mu.Unlock()
		if link == 0 {
			return
		}
		piece, drained := p.journal.next()
		if piece == nil {
			if !drained {
				return
			}
			p.feed.draw()
			continue
		}
		seq, err := p.client.Post(ctx, link, uri, piece.action, func(notice string, err error) { p.answered(piece, notice, err) })
		if err != nil {
			return // the connection is lost, and all that is on its way with it
		}
		p.journal.sent(piece, seq)
	}
}

// answered is called when the host has taken or refused a piece.
func (p *publisher) answered(piece *piece, notice string, err error) {
	if notice != "" {
		p.news.keep(notice)
	}
	var refused *client.Rejected
	switch {
	case err == nil:
		p.journal.settled(piece)
	case errors.As(err, &refused):
		p.journal.settled(piece)
		switch piece.action.(type) {
		case ahp.TerminalOutput, ahp.TerminalExited:
			p.over("sharing has ended, because the host takes no more: " + refused.Reason)
		}
	}
}

// finish waits until the host has got everything, if it is there or may come back
// soon, and returns whether it has.
func (p *publisher) finish(within time.Duration) bool {
	deadline := time.After(within)
	poll := time.NewTicker(10 * time.Millisecond) // nothing tells of the last acknowledgement
	defer poll.Stop()
	for !p.journal.empty() {
		if p.link.waits() {
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

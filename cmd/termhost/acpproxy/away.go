package acpproxy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/client"
)

// The host may go away and come back: it is restarted, or killed and started again. The client
// connects again by itself, and the host still has the terminals. So what was asked before is asked
// again, and neither the agent nor the editor need notice. Only a host that stays away for too long
// counts as gone, with all of its terminals. If it comes back after that, they are released.
//
// A host that goes on, and loses only the connection, ends the terminals. The proxy finds that out
// on the next connection.

// HostState is told of changes of the connection to the host.
func (p *Proxy) HostState(s client.State) {
	p.mu.Lock()
	changed := (p.lost == nil) != s.Connected
	p.lost = s.Err
	switch {
	case !changed:
	case s.Connected:
		p.giveUp.Stop()
	default:
		p.giveUp = time.AfterFunc(p.cfg.Away, p.hostGone)
	}
	p.mu.Unlock()
	switch {
	case !changed:
	case s.Connected:
		p.cfg.Notice("the host is back")
		select {
		case p.back <- struct{}{}:
		default: // the one before has not been noticed yet
		}
	default:
		p.cfg.Notice("the connection to the host is lost, and is made again: " + reason(s.Err))
	}
}

// hostGone has all terminals count as lost, unless the host is back.
func (p *Proxy) hostGone() {
	p.mu.Lock()
	if p.lost == nil || p.ctx.Err() != nil {
		p.mu.Unlock()
		return
	}
	why := p.lost
	p.endKnown(errConnLost)
	p.known, p.endKnown = context.WithCancelCause(p.ctx)
	p.mu.Unlock()
	p.cfg.Notice("the host does not come back, its terminals count as ended: " + reason(why))
}

// watchHost looks after the terminals on every new connection. And it notices when the client ends
// for good, which that does not report as a change of state.
func (p *Proxy) watchHost() {
	for {
		select {
		case <-p.back:
			p.takeUp()
		case <-p.host.Done():
			p.HostState(client.State{Err: p.host.Err()})
			p.hostGone()
			return
		case <-p.ctx.Done():
			return
		}
	}
}

// takeUp finds out which terminals are still there on a new connection. It releases those that the
// agent does not know any more.
func (p *Proxy) takeUp() {
	p.mu.Lock()
	list := slices.Collect(maps.Values(p.terminals))
	p.mu.Unlock()
	for _, t := range list {
		ctx, cancel := context.WithTimeout(p.ctx, p.answerWait)
		// What fails because the connection is lost is done on the next one.
		switch {
		case t.uri == "":
		case t.ctx.Err() != nil:
			_ = p.host.Call(ctx, wire.MethodRelease, t.params(), nil)
		case !p.isReleased(t):
			q := wire.CreatedParams{SessionID: t.session, Key: t.key}
			if isMissing(p.host.Call(ctx, ahp.MethodACPCreated, q, nil)) {
				t.lose(errConnLost)
			}
		}
		cancel()
	}
}

// isReleased reports whether the agent has released t.
func (p *Proxy) isReleased(t *remote) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.released
}

// isMissing reports whether an error says that the host does not have a terminal, or is too old to
// know.
func isMissing(err error) bool {
	var refused *ahp.Error
	return errors.As(err, &refused) &&
		(refused.Code == wire.CodeNoSuchTerminal || refused.Code == ahp.CodeMethodNotFound)
}

// endingPause is the time before a host that is about to end is asked again. It closes the
// connection soon.
const endingPause = 50 * time.Millisecond

// mayRepeat reports whether a request that has failed with err may be sent again, because the host
// goes away. If the host has not gone yet, it waits a little.
func (p *Proxy) mayRepeat(err error) bool {
	if !isEnding(err) {
		return errors.Is(err, client.ErrLost)
	}
	pause := time.NewTimer(endingPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-p.ctx.Done():
	}
	return true
}

// isEnding reports whether an error says that the connection ends, and nothing has been done.
func isEnding(err error) bool {
	var refused *ahp.Error
	return errors.As(err, &refused) && refused.Ended()
}

// send sends the host a request about t, and returns what waits for the answer. If the connection
// is lost before the answer comes, the request is sent again on the next one: all but
// terminal/create may be repeated. ctx bounds all that.
func (p *Proxy) send(
	ctx context.Context, t *remote, method string, result any,
) (wait func() error) {
	answer, err := p.host.Start(ctx, method, t.params(), result)
	return func() error {
		for {
			if err == nil {
				err = answer(ctx)
			}
			if !p.mayRepeat(err) {
				break
			}
			answer, err = p.host.Start(ctx, method, t.params(), result)
		}
		if p.host.Err() != nil || isMissing(err) && !p.isReleased(t) {
			t.lose(errConnLost)
			err = errConnLost
		}
		return err
	}
}

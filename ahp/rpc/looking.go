package rpc

import (
	"bytes"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// wantingPause is how much time there is at least between two notifications of what wants the
// peer's person: a terminal may ring and wait as often as it likes.
const wantingPause = 100 * time.Millisecond

// looking is the notification of what the peer's person looks at. From the first one on the peer is
// told what wants them.
func (p *peer) looking(r *request) *ahp.Error {
	var params struct {
		Terminals []string `json:"terminals"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if p.conn.Looking(params.Terminals) {
		p.background.Go(p.tellWanting)
	}
	if r.id != nil {
		p.respond(r.id, appendNull)
	}
	return nil
}

// tellWanting tells the peer what wants its person whenever that changes. A peer that does not read
// is told the next thing when it has read the last.
func (p *peer) tellWanting() {
	var told []byte
	written := make(chan struct{}, 1)
	for {
		select {
		case <-p.conn.Calls():
		case <-p.ctx.Done():
			return
		}
		wanted, _ := p.conn.Wanting() // who may not list is told of none
		if now := p.appendWanting(nil, wanted); !bytes.Equal(now, told) {
			told = now
			p.conn.Subscriber().Post(func(dst []byte) []byte {
				written <- struct{}{}
				return append(dst, now...)
			}, len(now))
			select {
			case <-written:
			case <-p.ctx.Done():
				return
			}
		}
		select {
		case <-time.After(wantingPause):
		case <-p.ctx.Done():
			return
		}
	}
}

// wantedTerminal is one of those that want the peer's person.
type wantedTerminal struct {
	Terminal string    `json:"terminal"` // its URI
	Why      host.Want `json:"why"`
	Since    time.Time `json:"since"`
}

func (p *peer) appendWanting(dst []byte, list []host.Wanted) []byte {
	wanted := []wantedTerminal{}
	for _, w := range list {
		since := w.Since.UTC().Truncate(time.Second)
		wanted = append(wanted, wantedTerminal{w.Terminal.URI(), w.Why, since})
	}
	return ahp.AppendNotification(dst, p.conn.NameOf(ahp.MethodWanting), struct {
		Channel   string           `json:"channel"`
		Terminals []wantedTerminal `json:"terminals"`
	}{ahp.RootURI, wanted})
}

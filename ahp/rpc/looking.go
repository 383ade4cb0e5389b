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
		if now := appendWanting(nil, p.conn.Wanting()); !bytes.Equal(now, told) {
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

func appendWanting(dst []byte, list []host.Wanted) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+ahp.MethodWanting+`","params":{"channel":`...)
	dst = append(ahp.AppendJSONString(dst, ahp.RootURI), `,"terminals":[`...)
	for i, w := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ahp.AppendJSONString(append(dst, `{"terminal":`...), w.Terminal.URI())
		dst = ahp.AppendJSONString(append(dst, `,"why":`...), string(w.Why))
		dst = ahp.AppendJSONString(append(dst, `,"since":`...), w.Since.UTC().Format(time.RFC3339))
		dst = append(dst, '}')
	}
	return append(dst, "]}}"...)
}

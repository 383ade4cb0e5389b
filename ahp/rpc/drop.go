package rpc

import (
	"errors"

	"termhost/ahp"
	"termhost/ahp/host"
)

// maxDrops bounds the files of one peer that are coming.
const maxDrops = 4

// incomingDrops are the files that a peer is giving to terminals, by the numbers that it has been
// told. The reader uses them, and closes them when the connection ends.
type incomingDrops struct {
	last int
	open map[int]*host.Drop
}

// abort deletes what has come.
func (in *incomingDrops) abort() {
	for _, d := range in.open {
		d.Abort()
	}
	in.open = nil
}

// dropParams are the params of termhost/drop.
type dropParams struct {
	Channel string `json:"channel"`
	Drop    int    `json:"drop"`
	Data    []byte `json:"data"`
	Name    string `json:"name"`
	More    bool   `json:"more"`
}

// drop answers termhost/drop: a piece of a file for a terminal's program.
func (p *peer) drop(r *request) *ahp.Error {
	var params dropParams
	t, e := p.named(r, &params, &params.Channel)
	if e != nil {
		return e
	}
	d, e := p.incomingDrop(t, params.Drop)
	if e != nil {
		return e
	}
	if _, err := d.Write(params.Data); err != nil {
		delete(p.drops.open, params.Drop)
		d.Abort()
		return dropRefusal(p.conn, err)
	}
	if params.More {
		n := params.Drop
		if n == 0 {
			p.drops.last++
			n = p.drops.last
			p.drops.open[n] = d
		}
		return p.answer(r, map[string]int{"drop": n}, nil)
	}
	delete(p.drops.open, params.Drop)
	path, paste, err := d.Finish(params.Name)
	return p.answer(r, map[string]string{"path": path, "paste": paste}, dropRefusal(p.conn, err))
}

// incomingDrop returns a file that is coming to t, by its number; 0: a new one.
func (p *peer) incomingDrop(t *host.Terminal, n int) (*host.Drop, *ahp.Error) {
	if n != 0 {
		d := p.drops.open[n]
		if d == nil || !d.IsFor(t) {
			return nil, ahp.FieldProblem("drop", "names no file that is coming to this terminal")
		}
		return d, nil
	}
	if len(p.drops.open) >= maxDrops {
		return nil, ahp.NewError(ahp.CodeLimit, "too many files are coming at once; finish some",
			"limit", "drops")
	}
	if p.drops.open == nil {
		p.drops.open = map[int]*host.Drop{}
	}
	d, err := p.conn.Drop(t, false)
	return d, dropRefusal(p.conn, err)
}

// dropRefusal is Error for what a file is refused with.
func dropRefusal(c *host.Conn, err error) *ahp.Error {
	var drop *host.DropError
	if errors.As(err, &drop) || errors.Is(err, host.ErrExited) {
		return ahp.NewError(ahp.CodeNotPermitted, err.Error(), "rule", err.Error())
	}
	return Error(c, err)
}

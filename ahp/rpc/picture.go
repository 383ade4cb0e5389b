package rpc

import (
	"encoding/json"

	"termhost/ahp"
	"termhost/ahp/host"
)

// picture answers termhost/picture: a picture that a terminal's program has drawn.
func (p *peer) picture(r *request) *ahp.Error {
	var params struct {
		Channel string `json:"channel"`
		Picture string `json:"picture"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if e := require(field{"channel", params.Channel != ""},
		field{"picture", params.Picture != ""}); e != nil {
		return e
	}
	t, e := p.lookup(params.Channel)
	if e != nil {
		return e
	}
	return p.readLater(r, func(w *host.Work) (json.RawMessage, *ahp.Error) {
		file, err := p.conn.Picture(w, t, params.Picture)
		return encoded(struct {
			Cols int    `json:"cols"`
			Rows int    `json:"rows"`
			Type string `json:"type"`
			Data []byte `json:"data"`
		}(file), workError(p.conn, w, err))
	})
}

package rpc

import (
	"termhost/ahp"
	"termhost/ahp/store"
)

// appendClipboard appends the notification of what a program copies, or nothing if the peer does
// not hold the claim.
func (p *peer) appendClipboard(dst []byte, channel string, c store.Clipboard) []byte {
	if !p.conn.Holds(channel) {
		return dst
	}
	selection, data := c.Parts()
	return ahp.AppendNotification(dst, p.conn.NameOf(ahp.MethodClipboard), struct {
		Channel   string `json:"channel"`
		Selection string `json:"selection"`
		Data      string `json:"data"`
	}{channel, string(selection), string(data)})
}

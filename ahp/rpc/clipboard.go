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
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+ahp.MethodClipboard+`","params":{"channel":`...)
	dst = ahp.AppendJSONString(dst, channel)
	dst = ahp.AppendJSONString(append(dst, `,"selection":`...), selection)
	dst = ahp.AppendJSONString(append(dst, `,"data":`...), data)
	return append(dst, "}}"...)
}

package rpc

import (
	"termhost/ahp"
	"termhost/ahp/store"
)

// What a program copies (OSC 52) is an extension (termhost/clipboard). A peer that says in the
// _meta of initialize and reconnect that it wants to know is told with a notification {channel,
// selection, data}: for its own subscriptions, while it holds the claim. The selection is as the
// program names it, "c" or "" for the clipboard; data is base64 and not checked. Nothing is ever
// read, and what was copied is told once, when it happens.

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

package host

import (
	"bytes"
	"context"

	"termhost/ahp"
)

// HistoryReader calls visit as [Host.ReadHistory] does.
type HistoryReader func(ctx context.Context, visit func(*HistoryItem) bool) *ahp.Error

// History is termhost/history: it returns what reads the log of a terminal that the connection's
// principal sees.
func (c *Conn) History(ref string) (HistoryReader, *ahp.Error) {
	t, e := c.readable(ref)
	if e != nil {
		return nil, e
	}
	return func(ctx context.Context, visit func(*HistoryItem) bool) *ahp.Error {
		_, err := c.host.ReadHistory(c.principal, t, func(i *HistoryItem) bool {
			return ctx.Err() == nil && visit(i)
		})
		return c.ProtocolError(err)
	}, nil
}

// Log is termhost/log: it returns what reads all that a terminal has printed, raw or as text, as
// [Host.LogRaw] and [Host.LogText] do.
func (c *Conn) Log(ref string, raw bool) (
	read func() (data []byte, truncated bool, e *ahp.Error), e *ahp.Error,
) {
	t, e := c.readable(ref)
	if e != nil {
		return nil, e
	}
	return func() (data []byte, truncated bool, e *ahp.Error) {
		var err error
		if raw {
			var pieces [][]byte
			pieces, truncated, err = c.host.LogRaw(c.principal, t)
			data = bytes.Join(pieces, nil)
		} else {
			data, truncated, err = c.host.LogText(c.principal, t)
		}
		return data, truncated, c.ProtocolError(err)
	}, nil
}

// readable finds a terminal that the connection's principal sees.
func (c *Conn) readable(ref string) (*Terminal, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	uri, _ := ahp.NormalizeChannel(ref)
	if t := c.host.lookupFor(c.principal, uri); t != nil {
		return t, nil
	}
	return nil, unknownChannel(ref)
}

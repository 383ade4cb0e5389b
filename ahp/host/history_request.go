package host

import (
	"bytes"
	"context"
	"fmt"

	"termhost/ahp"
	"termhost/ahp/record"
)

// Source names what a history is read of: a terminal, by its URI, or if Recording is not empty a
// recording, by its whole name.
type Source struct {
	Channel   string `json:"channel"`
	Recording string `json:"recording"`
}

// HistoryReader calls visit as [Host.ReadHistory] does.
type HistoryReader func(ctx context.Context, visit func(*HistoryItem) bool) (
	truncated bool, e *ahp.Error)

// History returns what reads a history, if the connection's principal sees the terminal.
func (c *Conn) History(s Source) (HistoryReader, *ahp.Error) {
	read := func(visit func(*HistoryItem) bool) (bool, error) { return false, nil }
	if s.Recording != "" {
		r, e := c.recording(s.Recording)
		if e != nil {
			return nil, e
		}
		read = func(visit func(*HistoryItem) bool) (bool, error) {
			return false, c.host.readRecording(c.principal, r, visit)
		}
	} else {
		t, e := c.readable(s.Channel)
		if e != nil {
			return nil, e
		}
		read = func(visit func(*HistoryItem) bool) (bool, error) {
			return c.host.ReadHistory(c.principal, t, visit)
		}
	}
	return func(ctx context.Context, visit func(*HistoryItem) bool) (bool, *ahp.Error) {
		truncated, err := read(func(i *HistoryItem) bool { return ctx.Err() == nil && visit(i) })
		return truncated, c.ProtocolError(err)
	}, nil
}

// LogForm is what a log is read as.
type LogForm string

// The forms of a log: as [Host.LogRaw] and [Host.LogText] return it, and as asciicast 3.
const (
	LogRaw  LogForm = "raw"
	LogText LogForm = "text"
	LogCast LogForm = "cast"
)

// wholeBytes is how large a recording may be that is one answer, in bytes.
const wholeBytes = 16 << 20

// Log returns what reads all that a terminal has printed in one of the forms, or a recording as
// asciicast, whatever the form.
func (c *Conn) Log(s Source, form LogForm) (
	read func() (data []byte, truncated bool, e *ahp.Error), e *ahp.Error,
) {
	var cast func() (*Cast, error)
	var t *Terminal
	if s.Recording != "" {
		r, e := c.recording(s.Recording)
		if e != nil {
			return nil, e
		}
		if c.host.recordings.size(r) > wholeBytes {
			return nil, ahp.NewError(ahp.CodeLimit, "the recording is too large for one answer; "+
				"`ssh HOST cast "+r.id+"` prints it", "limit", "recording")
		}
		cast = func() (*Cast, error) { return c.host.castRecording(c.principal, r) }
	} else {
		if t, e = c.readable(s.Channel); e != nil {
			return nil, e
		}
		cast = func() (*Cast, error) { return c.host.castTerminal(c.principal, t) }
	}
	return func() (data []byte, truncated bool, e *ahp.Error) {
		var err error
		switch {
		case t == nil || form == LogCast:
			data, truncated, err = asciicast(cast())
		case form == LogRaw:
			var pieces [][]byte
			pieces, truncated, err = c.host.LogRaw(c.principal, t)
			data = bytes.Join(pieces, nil)
		default:
			data, truncated, err = c.host.LogText(c.principal, t)
		}
		return data, truncated, c.ProtocolError(err)
	}, nil
}

// asciicast returns a cast as asciicast 3.
func asciicast(c *Cast, err error) (text []byte, truncated bool, _ error) {
	if err != nil {
		return nil, false, err
	}
	var b bytes.Buffer
	err = record.Write(&b, record.V3, c.Header, c.Events)
	return b.Bytes(), c.Truncated, err
}

// Recordings returns what [Host.Recordings] does.
func (c *Conn) Recordings() ([]RecordingInfo, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	list, err := c.host.Recordings(c.principal)
	return list, c.ProtocolError(err)
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

// recording finds a recording of a terminal that the connection's principal sees or saw.
func (c *Conn) recording(name string) (*recording, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	if r := c.host.recordings.find(c.principal, name); r != nil && r.id == name {
		return r, nil
	}
	return nil, ahp.NewError(ahp.CodeNotFound,
		fmt.Sprintf("there is no recording %q", Printable(clip(name))), "recording", name)
}

package rpc

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
)

// The bounds of termhost/history. Each request reads the log and holds its answer in memory.
const (
	maxHistories     = 4       // per peer at a time
	historyBytes     = 1 << 20 // approximate size of an answer, unless the peer asks for less
	historyItemBytes = 100     // weight of an item besides its data
)

// historyParams are those of termhost/history.
type historyParams struct {
	source
	From     int64  `json:"from"`     // items at this position and later
	Before   *int64 `json:"before"`   // and before this one
	MaxBytes int    `json:"maxBytes"` // approximate size of the answer; 0: historyBytes
	Outline  bool   `json:"outline"`  // see historyAnswer.leftOut
}

// source names what a history is read of: a terminal, by its URI, or if Recording is not empty a
// recording, by its whole name.
type source struct {
	Channel   string `json:"channel"`
	Recording string `json:"recording"`
}

// historyResult is the result of termhost/history. Items with the same position are in one answer,
// so that Next continues exactly where it ends.
type historyResult struct {
	Items []historyItem `json:"items"`
	Next  *int64        `json:"next,omitempty"` // the next From; nil: there is no more
	First *int64        `json:"first"`          // where the log begins; null: it is empty
}

// historyItem is a [history.Item] on the wire.
type historyItem struct {
	At         int64        `json:"at"`
	Time       time.Time    `json:"time"`
	Kind       history.Kind `json:"kind"`
	Nth        int          `json:"nth,omitempty"` // of the items at this position, from 0
	Data       string       `json:"data,omitempty"`
	Cols       int          `json:"cols,omitempty"`
	Rows       int          `json:"rows,omitempty"`
	Line       *string      `json:"line,omitempty"`
	By         string       `json:"by,omitempty"`
	StartedAt  *time.Time   `json:"startedAt,omitempty"`
	DurationMs *int64       `json:"durationMs,omitempty"`
	ExitCode   *int         `json:"exitCode,omitempty"`
	Missing    int64        `json:"missing,omitempty"`
	Reason     string       `json:"reason,omitempty"`
}

func newHistoryItem(i *history.Item) historyItem {
	item := historyItem{At: i.At, Time: i.Time.UTC(), Kind: i.Kind, Data: string(i.Data),
		Cols: i.Cols, Rows: i.Rows, ExitCode: i.ExitCode, Missing: i.Missing, Reason: i.Reason}
	if c := i.Command; c != nil {
		item.Line, item.By, item.StartedAt = &c.Line, c.By, &c.StartedAt
		item.DurationMs, item.ExitCode = c.DurationMs, c.ExitCode
	}
	return item
}

// history answers termhost/history.
func (p *peer) history(r *request) *ahp.Error {
	var params historyParams
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if params.MaxBytes < 0 {
		return ahp.FieldProblem("maxBytes", "must not be negative")
	}
	return p.readHistory(r, params.source, params.answer)
}

// readHistory answers a request with what read returns of a log.
func (p *peer) readHistory(r *request, s source,
	read func(*host.Work, *history.Log) (result any, err error),
) *ahp.Error {
	from, e := p.sourceOf(s)
	if e != nil {
		return e
	}
	return p.readLater(r, func(w *host.Work) (json.RawMessage, *ahp.Error) {
		result, err := read(w, p.conn.History(w, from))
		return encoded(result, workError(p.conn, w, err))
	})
}

// sourceOf returns a source, if the peer sees it.
func (p *peer) sourceOf(s source) (host.Source, *ahp.Error) {
	var (
		from host.Source
		err  error
	)
	switch {
	case s.Recording != "":
		from, err = p.conn.Recording(s.Recording)
	case s.Channel != "":
		from.Terminal, err = p.conn.Lookup(s.Channel)
	default:
		return from, ahp.FieldProblem("channel", "is missing")
	}
	return from, Error(p.conn, err)
}

// readLater answers a request with the result of reading a log. Until the answer is written it
// counts as being read, which bounds the results of an account in memory, even if peers do not
// read.
func (p *peer) readLater(r *request,
	read func(*host.Work) (json.RawMessage, *ahp.Error),
) *ahp.Error {
	return p.readWithin(p.ctx, r, read)
}

// readWithin is readLater for work that ends with ctx, whose parent is the peer's.
func (p *peer) readWithin(ctx context.Context, r *request,
	read func(*host.Work) (json.RawMessage, *ahp.Error),
) *ahp.Error {
	if p.histories.Add(1) > maxHistories {
		p.histories.Add(-1)
		return ahp.NewError(ahp.CodeLimit, "other histories of this connection are being read; "+
			"let them finish", "limit", "histories")
	}
	p.background.Go(func() {
		release, err := p.conn.WaitReading(p.ctx)
		// over admits the next one, before the answer is sent: a peer that waits for the answer
		// must not be refused.
		over := sync.OnceFunc(func() {
			p.histories.Add(-1)
			if err == nil {
				release()
			}
		})
		defer over()
		if err != nil {
			over()
			p.refuse(r.id, ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "histories"))
			return
		}
		w := p.conn.Work(ctx)
		result, e := p.contained(func() (json.RawMessage, *ahp.Error) { return read(w) })
		w.Rest()
		if e != nil {
			over()
			p.refuse(r.id, e)
			return
		}
		encoded := make(chan struct{})
		p.conn.Subscriber().PostLarge(func(dst []byte) []byte {
			over()
			close(encoded)
			return appendResult(dst, r.id, result)
		}, len(result))
		select {
		case <-encoded:
		case <-p.ctx.Done():
		}
	})
	return nil
}

// encoded returns a result as JSON, unless there is an error.
func encoded(result any, e *ahp.Error) (json.RawMessage, *ahp.Error) {
	if e != nil {
		return nil, e
	}
	return ahp.Encode(result), nil
}

// outlineEvery is how far apart the pieces of output in an outline are. Nobody who moves in it
// sees a shorter time.
const outlineEvery = 100 * time.Millisecond

// historyAnswer is an answer to termhost/history in the making.
type historyAnswer struct {
	*historyParams
	result historyResult
	left   int       // bytes that may be added
	last   int64     // the position of the last item
	nth    int       // number of items at that position before it
	drawn  time.Time // time of the last output in the outline

	omitted *historyItem // later output, which is not in it
}

// answer reads what the params ask for.
func (params *historyParams) answer(w *host.Work, log *history.Log) (any, error) {
	a := historyAnswer{historyParams: params, left: historyBytes, last: -1}
	a.result.Items = []historyItem{}
	if params.MaxBytes > 0 {
		a.left = min(a.left, params.MaxBytes)
	}
	first, err := log.ReadFrom(w, params.From, a.take)
	a.result.First = first
	if a.omitted != nil && a.result.Next == nil {
		a.result.Items = append(a.result.Items, *a.omitted)
	}
	return &a.result, err
}

// take adds an item to the answer. It returns false when that is full.
func (a *historyAnswer) take(i *history.Item) bool {
	switch {
	case a.Before != nil && i.At >= *a.Before:
		return false
	case a.left <= 0 && i.At > a.last:
		a.result.Next = new(i.At)
		return false
	}
	if a.nth++; i.At > a.last {
		a.nth = 0
	}
	a.last = i.At
	item := newHistoryItem(i)
	item.Nth = a.nth
	if a.Outline {
		if item.Data, a.omitted = "", nil; a.leftOut(i) {
			a.omitted = &item
			return true
		}
	}
	a.result.Items = append(a.result.Items, item)
	a.left -= len(item.Data) + historyItemBytes
	return true
}

// leftOut reports whether an item has no place in an outline: output that came soon after other
// output.
func (a *historyAnswer) leftOut(i *history.Item) bool {
	if !a.Outline || i.Kind != history.Data {
		return false
	}
	since := i.Time.Sub(a.drawn)
	if since >= 0 && since < outlineEvery {
		return true
	}
	a.drawn = i.Time
	return false
}

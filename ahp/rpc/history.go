package rpc

import (
	"encoding/json"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// The bounds of termhost/history. Each request reads the log, and holds its answer in memory.
const (
	maxHistories     = 4       // of one peer at the same time
	historyBytes     = 1 << 20 // about how long an answer is, unless the peer asks for less
	historyItemBytes = 100     // what an item counts besides its data
)

// historyParams are those of termhost/history.
type historyParams struct {
	Channel  string `json:"channel"`
	From     int64  `json:"from"`     // items at this position and later
	Before   *int64 `json:"before"`   // and before this one
	MaxBytes int    `json:"maxBytes"` // about how long the answer may be; 0: historyBytes
}

// historyResult is the result of termhost/history. Items that have the same position are in one
// answer, so that Next goes on exactly where it ends.
type historyResult struct {
	Items []historyItem `json:"items"`
	Next  *int64        `json:"next,omitempty"` // the next From; nil: there is no more
	First *int64        `json:"first"`          // where the log begins; null: it is empty
}

// historyItem is a [host.HistoryItem] as a peer gets it.
type historyItem struct {
	At         int64            `json:"at"`
	Time       time.Time        `json:"time"`
	Kind       host.HistoryKind `json:"kind"`
	Data       string           `json:"data,omitempty"`
	Cols       int              `json:"cols,omitempty"`
	Rows       int              `json:"rows,omitempty"`
	Line       *string          `json:"line,omitempty"`
	By         string           `json:"by,omitempty"`
	StartedAt  *time.Time       `json:"startedAt,omitempty"`
	DurationMs *int64           `json:"durationMs,omitempty"`
	ExitCode   *int             `json:"exitCode,omitempty"`
	Missing    int64            `json:"missing,omitempty"`
	Reason     string           `json:"reason,omitempty"`
}

func newHistoryItem(i *host.HistoryItem) historyItem {
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
	switch {
	case params.Channel == "":
		return ahp.FieldProblem("channel", "is missing")
	case params.MaxBytes < 0:
		return ahp.FieldProblem("maxBytes", "must not be negative")
	}
	read, e := p.conn.History(params.Channel)
	if e != nil {
		return e
	}
	return p.readLater(r, func() (json.RawMessage, *ahp.Error) {
		return p.readHistory(&params, read)
	})
}

// readLater answers a request with what is read of a log.
func (p *peer) readLater(r *request, read work) *ahp.Error {
	if p.histories.Add(1) > maxHistories {
		p.histories.Add(-1)
		return ahp.NewError(ahp.CodeLimit, "other histories of this connection are being read; "+
			"let them finish", "limit", "histories")
	}
	p.answerLater(r.id, read, func() { p.histories.Add(-1) })
	return nil
}

// wholeLog answers termhost/log {channel, form}, form being "text" or "raw", with {data,
// truncated}: data is base64, and truncated says that the beginning is gone.
func (p *peer) wholeLog(r *request) *ahp.Error {
	var params struct {
		Channel string `json:"channel"`
		Form    string `json:"form"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	switch {
	case params.Channel == "":
		return ahp.FieldProblem("channel", "is missing")
	case params.Form != "text" && params.Form != "raw":
		return ahp.FieldProblem("form", `must be "text" or "raw"`)
	}
	read, e := p.conn.Log(params.Channel, params.Form == "raw")
	if e != nil {
		return e
	}
	return p.readLater(r, func() (json.RawMessage, *ahp.Error) {
		data, truncated, e := read()
		if e != nil {
			return nil, e
		}
		text, err := json.Marshal(map[string]any{"data": data, "truncated": truncated})
		if err != nil {
			panic("rpc: a log does not marshal: " + err.Error()) // it is bytes
		}
		return text, nil
	})
}

// readHistory reads what the params ask for.
func (p *peer) readHistory(params *historyParams, read host.HistoryReader) (
	json.RawMessage, *ahp.Error,
) {
	result := historyResult{Items: []historyItem{}}
	left, last := historyBytes, int64(-1)
	if params.MaxBytes > 0 {
		left = min(left, params.MaxBytes)
	}
	e := read(p.ctx, func(i *host.HistoryItem) bool {
		if result.First == nil {
			result.First = new(i.At)
		}
		switch {
		case i.At < params.From:
			return true
		case params.Before != nil && i.At >= *params.Before:
			return false
		case left <= 0 && i.At > last:
			result.Next = new(i.At)
			return false
		}
		result.Items = append(result.Items, newHistoryItem(i))
		left -= len(i.Data) + historyItemBytes
		last = i.At
		return true
	})
	if e != nil {
		return nil, e
	}
	text, err := json.Marshal(&result)
	if err != nil {
		panic("rpc: a history does not marshal: " + err.Error()) // it has only plain fields
	}
	return text, nil
}

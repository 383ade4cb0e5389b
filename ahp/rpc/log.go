package rpc

import (
	"bytes"
	"encoding/json"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
)

// The forms of a log: as [host.Conn.LogRaw] and [host.Conn.LogText] return it, and as asciicast 3.
const (
	formRaw  = "raw"
	formText = "text"
	formCast = "cast"
)

// wholeBytes is how large a recording may be that is one answer, in bytes.
const wholeBytes = 16 << 20

// wholeLog answers termhost/log: all that a terminal has printed, or a recording.
func (p *peer) wholeLog(r *request) *ahp.Error {
	var params struct {
		source
		Form    string `json:"form"`
		Command string `json:"command"` // its output only; "": all
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	switch f := params.Form; {
	case params.Channel == "" && params.Recording == "":
		return ahp.FieldProblem("channel", "is missing")
	case params.Recording != "" && f != formCast:
		return ahp.FieldProblem("form", `of a recording must be "cast"`)
	case params.Command != "" && f != formRaw:
		return ahp.FieldProblem("form", `of a command's output must be "raw"`)
	case f != formText && f != formRaw && f != formCast:
		return ahp.FieldProblem("form", `must be "text", "raw" or "cast"`)
	}
	from, e := p.sourceOf(params.source)
	if e != nil {
		return e
	}
	if params.Recording != "" && p.conn.RecordingBytes(from) > wholeBytes {
		return ahp.NewError(ahp.CodeLimit, "the recording is too large for one answer; "+
			"`ssh HOST cast "+params.Recording+"` prints it", "limit", "recording")
	}
	if params.Command != "" {
		return p.commandOutput(r, from.Terminal, params.Command)
	}
	return p.readLater(r, func(w *host.Work) (json.RawMessage, *ahp.Error) {
		data, truncated, err := p.logAs(params.Form, w, from)
		return encoded(map[string]any{"data": data, "truncated": truncated},
			workError(p.conn, w, err))
	})
}

// commandOutput answers with what a command has printed.
func (p *peer) commandOutput(r *request, t *host.Terminal, id string) *ahp.Error {
	return p.readLater(r, func(w *host.Work) (json.RawMessage, *ahp.Error) {
		pieces, kept, err := p.conn.CommandOutput(t, id)
		if err == nil && !kept {
			return nil, ahp.FieldProblem("command", "is not kept any more")
		}
		return encoded(map[string]any{"data": bytes.Join(pieces, nil), "truncated": false},
			workError(p.conn, w, err))
	})
}

// logAs reads all that there is of a source in one of the forms.
func (p *peer) logAs(form string, w *host.Work, from host.Source) (
	data []byte, truncated bool, err error,
) {
	switch form {
	case formCast:
		cast, err := p.conn.Cast(w, from)
		if err != nil {
			return nil, false, err
		}
		var b bytes.Buffer
		err = history.Write(w.Writer(&b), history.V3, cast.Header, cast.Events)
		return b.Bytes(), cast.Truncated, err
	case formRaw:
		pieces, truncated, err := p.conn.LogRaw(from.Terminal)
		return bytes.Join(pieces, nil), truncated, err
	default:
		return p.conn.LogText(w, from.Terminal)
	}
}

// recordings answers termhost/recordings.
func (p *peer) recordings(r *request) *ahp.Error {
	err := p.conn.Ended()
	var list []host.RecordingInfo
	if err == nil {
		list, err = p.conn.Recordings()
	}
	return p.answer(r, map[string]any{"recordings": list}, Error(p.conn, err))
}

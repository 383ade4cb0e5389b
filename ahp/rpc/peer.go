package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"termhost/ahp"
	"termhost/ahp/host"
)

// peer is one connection being served.
type peer struct {
	t    Transport
	c    *host.Conn
	opts Options
	log  *slog.Logger
	ctx  context.Context
	pace pace

	closing error // the reader's: end once everything is written

	extension Extension    // nil: none
	waits     atomic.Int64 // requests of the extension that are waiting

	background sync.WaitGroup // disposals and waits, which take long
	disposals  chan struct{}  // a slot for each
}

// request is a request or notification whose outer form is right.
type request struct {
	id     []byte // nil: a notification
	method string
	params json.RawMessage
}

// handle answers one message.
func (p *peer) handle(msg []byte) {
	r, bad := parse(msg)
	if bad != nil {
		var id []byte
		if r != nil {
			id = r.id
		}
		p.refuse(id, bad)
		return
	}
	if r == nil {
		return // a response: this host asks nothing
	}
	m, known := methods[r.method]
	if !known {
		if p.extended(r) {
			return
		}
		p.refuseUnknown(r)
		return
	}
	if r.id == nil && !m.notification {
		p.refuse(nil, ahp.NewError(ahp.CodeInvalidRequest, r.method+" is a request and needs an id"))
		return
	}
	if !m.early && !p.c.Initialized() {
		p.refuse(r.id, errNotInitialized)
		return
	}
	if e := m.answer(p, r); e != nil {
		p.refuse(r.id, e)
	}
}

var errNotInitialized = ahp.NewError(ahp.CodeInvalidRequest, "not initialized: send initialize or reconnect first")

func (p *peer) refuseUnknown(r *request) {
	if !p.c.Initialized() {
		p.refuse(r.id, errNotInitialized)
		return
	}
	name := host.Printable(r.method)
	name = name[:min(len(name), maxMethodName)]
	if r.id == nil {
		p.log.Debug("unknown notification ignored", "method", name)
		return
	}
	p.refuse(r.id, ahp.NewError(ahp.CodeMethodNotFound, "termhost does not implement "+name, "method", name))
}

// maxMethodName is how much of an unknown method's name is repeated.
const maxMethodName = 64

// parse takes a message apart. It returns nil and no error for a response, and
// beside an error what is known of the request, if its id is.
func parse(msg []byte) (*request, *ahp.Error) {
	if !json.Valid(msg) {
		return nil, ahp.NewError(ahp.CodeParse, "the message is not valid JSON")
	}
	if err := scan(msg); err != nil {
		if errors.Is(err, errUTF8) {
			return nil, ahp.NewError(ahp.CodeParse, err.Error())
		}
		return salvage(msg, err), ahp.NewError(ahp.CodeInvalidRequest, err.Error())
	}
	switch first := bytes.TrimLeft(msg, " \t\r\n")[0]; first {
	case '{':
	case '[':
		return nil, ahp.NewError(ahp.CodeInvalidRequest, "batches are not supported: send one message at a time")
	default:
		return nil, ahp.NewError(ahp.CodeInvalidRequest, "a message is a JSON object")
	}
	var m struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(msg, &m); err != nil {
		return nil, ahp.NewError(ahp.CodeInvalidRequest, "the message is not a JSON-RPC request")
	}
	r := &request{id: m.ID, params: m.Params}
	switch {
	case m.ID != nil && !isID(m.ID):
		return nil, ahp.NewError(ahp.CodeInvalidRequest, "an id is a string or a number, of at most 256 bytes")
	case string(m.Version) != `"2.0"`:
		return r, ahp.NewError(ahp.CodeInvalidRequest, `a message has "jsonrpc": "2.0"`)
	case m.Method == nil && (m.Result != nil || m.Error != nil):
		return nil, nil
	case m.Method == nil || json.Unmarshal(m.Method, &r.method) != nil || r.method == "":
		return r, ahp.NewError(ahp.CodeInvalidRequest, "the message has no method, or one that is not a string")
	}
	return r, nil
}

// salvage returns the id of a message that scan has refused, so that its sender knows
// which one it was; nil: it has none, or more than one.
func salvage(msg []byte, refusal error) *request {
	var twice *duplicateError
	if errors.As(refusal, &twice) && strings.EqualFold(unescape(twice.key), "id") {
		return nil
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(msg, &keys) != nil || keys["id"] == nil || !isID(keys["id"]) {
		return nil
	}
	for key := range keys {
		if key != "id" && strings.EqualFold(key, "id") {
			return nil
		}
	}
	return &request{id: keys["id"]}
}

// maxID bounds an id, in bytes: it is repeated in the answer.
const maxID = 256

// isID reports whether raw may be a request's id (JSON-RPC 2.0 section 4; null
// is left out, because an answer to it could not be told from an error).
func isID(raw json.RawMessage) bool {
	return len(raw) <= maxID && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// wireName returns a field's path as it is in the message: encoding/json puts the
// names of embedded Go types before it, which begin with a capital.
func wireName(path string) string {
	for {
		first, rest, more := strings.Cut(path, ".")
		if !more || first == "" || first[0] < 'A' || first[0] > 'Z' {
			return path
		}
		path = rest
	}
}

// decode reads params into v, naming the field that is wrong.
func decode(params json.RawMessage, v any) *ahp.Error {
	if len(params) == 0 || params[0] != '{' {
		return ahp.FieldProblem("params", "must be an object")
	}
	err := json.Unmarshal(params, v)
	if err == nil {
		return nil
	}
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) && te.Field != "" {
		return ahp.FieldProblem(wireName(te.Field), "has the wrong type")
	}
	return ahp.FieldProblem("params", "cannot be read: "+err.Error())
}

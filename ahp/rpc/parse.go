package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"termhost/ahp"
)

// request is a well-formed request or notification.
type request struct {
	id     []byte // nil: a notification
	method string
	params json.RawMessage
	action actionParts // of dispatchAction
}

// actionParts are the values of a dispatchAction's params and of its action; nil: there is none.
type actionParts struct{ channel, clientSeq, whole, kind, data, meta []byte }

// add takes the value of a key.
func (a *actionParts) add(of level, key string, value []byte) {
	switch {
	case of == ofAction && key == "type":
		a.kind = value
	case of == ofAction && key == "data":
		a.data = value
	case of == ofAction && key == "_meta":
		a.meta = value
	case of == ofParams && key == "channel":
		a.channel = value
	case of == ofParams && key == "clientSeq":
		a.clientSeq = value
	case of == ofParams && key == "action":
		a.whole = value
	}
}

// parse takes a message apart; the request's params are a part of it. For a response it returns nil
// and no error. With an error it returns a request if the id of the bad message is known.
func parse(msg []byte) (*request, *ahp.Error) {
	var version, method, answer []byte
	var r request
	err := scan(msg, func(of level, key, value []byte) {
		if of != ofMessage {
			r.action.add(of, string(key), value)
			return
		}
		switch string(key) {
		case "jsonrpc":
			version = value
		case "id":
			r.id = bytes.Clone(value) // a waiting answer keeps it, but not the message
		case "method":
			method = value
		case "params":
			r.params = value
		case "result", "error":
			answer = value
		}
	})
	switch {
	case errors.Is(err, errUTF8), errors.Is(err, errJSON):
		return nil, unreadable(err)
	case err != nil:
		return salvage(msg), unreadable(err)
	}
	switch first := bytes.TrimLeft(msg, " \t\r\n")[0]; {
	case first == '[':
		return nil, invalid("batches are not supported: send one message at a time")
	case first != '{':
		return nil, invalid("a message is a JSON object")
	case r.id != nil && !isID(r.id):
		return nil, invalid("an id is a string or a number, of at most 256 bytes")
	case string(version) != `"2.0"`:
		return &r, invalid(`a message has "jsonrpc": "2.0"`)
	case method == nil && answer != nil:
		return nil, nil
	case !isText(method, &r.method) || r.method == "":
		return &r, invalid("the message has no method, or one that is not a string")
	}
	return &r, nil
}

// Check refuses what this host accepts in no message of any protocol: see scan. nil: it may be a
// message, or a batch of them.
func Check(msg []byte) *ahp.Error {
	if err := scan(msg, nil); err != nil {
		return unreadable(err)
	}
	return nil
}

// unreadable returns the answer to a message that scan has refused.
func unreadable(err error) *ahp.Error {
	if errors.Is(err, errUTF8) || errors.Is(err, errJSON) {
		return ahp.NewError(ahp.CodeParse, err.Error())
	}
	return invalid(err.Error())
}

func invalid(reason string) *ahp.Error { return ahp.NewError(ahp.CodeInvalidRequest, reason) }

// isText reports whether a value is a string, and stores it in text.
func isText(value []byte, text *string) bool {
	if len(value) == 0 || value[0] != '"' {
		return false
	}
	b, err := jsontext.AppendUnquote(nil, value)
	*text = string(b)
	return err == nil
}

// salvage finds the id of a message that scan has refused, so that the answer can name it; nil:
// there is none, or more than one.
func salvage(msg []byte) *request {
	var id []byte
	n := 0
	ahp.EachMember(msg, func(name string, value []byte) {
		if strings.EqualFold(name, "id") {
			n++
		}
		if name == "id" {
			id = value
		}
	})
	if n != 1 || id == nil || !isID(id) {
		return nil
	}
	return &request{id: bytes.Clone(id)}
}

// maxID bounds an id, in bytes, because the answer repeats it.
const maxID = 256

// isID reports whether raw may be the id of a request (JSON-RPC 2.0 section 4). null may not: its
// answer would look like one to a message without an id.
func isID(raw json.RawMessage) bool {
	return len(raw) <= maxID && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

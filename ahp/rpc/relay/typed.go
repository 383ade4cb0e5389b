package relay

import (
	"encoding/json"
	"maps"

	"termhost/ahp"
)

// inputType is the type of the actions with keys.
var inputType = ahp.TerminalInput{}.Type()

// typed is what a client has typed at an owner, by the owner's URI. An input may name the one
// before it, which the owner must have taken last. An owner that was restarted does not know that
// any more. A door does, and leaves it out once: see "What has been typed" in package rpc.
type typed struct {
	taken     map[string]int64 // the clientSeq of the last input that the owner has taken
	forgotten map[string]int64 // those that the owner has forgotten
}

func newTyped() typed { return typed{map[string]int64{}, map[string]int64{}} }

// forget takes note that the owner was restarted.
func (t *typed) forget() { maps.Copy(t.forgotten, t.taken) }

// passable returns the params of an action as the owner takes it.
func (t *typed) passable(kind string, params json.RawMessage, uri string) json.RawMessage {
	last, forgotten := t.forgotten[uri]
	if !forgotten || kind != inputType {
		return params
	}
	action := member(params, "action")
	var input struct {
		Meta struct {
			Termhost struct {
				After int64 `json:"after"`
			} `json:"termhost"`
		} `json:"_meta"`
	}
	if json.Unmarshal(action, &input) != nil || input.Meta.Termhost.After != last {
		return params
	}
	delete(t.forgotten, uri)
	meta := member(action, "_meta")
	return appendObject(nil, params, func(dst []byte) []byte {
		dst = append(dst, `"action":`...)
		return appendObject(dst, action, func(dst []byte) []byte {
			dst = append(dst, `"_meta":{"termhost":`...)
			dst = appendObject(dst, member(meta, "termhost"), nothing, "after")
			return append(dst, '}')
		}, "_meta")
	}, "action")
}

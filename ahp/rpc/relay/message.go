package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"termhost/ahp"
)

// What an owner sends is taken apart and put together anew: it may be broken into, and its text is
// believed in nothing that is about other hosts or about the connection to the client.

var errMessage = errors.New("it sends something that is not an AHP message")

// message is one of an owner's.
type message struct {
	id             uint64 // of a response to a request of ours; 0: it is none
	method         string
	params, result json.RawMessage
	err            *ahp.Error
}

// parse takes a message apart, of which the values are parts.
func parse(line []byte) (m message, err error) {
	if !utf8.Valid(line) { // which would end a browser's connection
		return m, errMessage
	}
	whole, ok := ahp.ParseMessage(line)
	if ok && whole.ID != nil {
		m.id, err = strconv.ParseUint(string(whole.ID), 10, 64)
	}
	if !ok || err != nil {
		return message{}, errMessage
	}
	m.method, m.params, m.result, m.err = whole.Method, whole.Params, whole.Result, whole.Error
	return m, nil
}

// appendObject appends a JSON object without some of its members; what it is to have instead is
// appended by first, which begins with the brace and ends without a comma.
func appendObject(dst, object []byte, first func(dst []byte) []byte, without ...string) []byte {
	dst = first(append(dst, '{'))
	seen := map[string]bool{}
	for _, name := range without {
		seen[name] = true
	}
	ahp.EachMember(object, func(name string, value []byte) {
		if seen[name] {
			return
		}
		seen[name] = true
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(append(ahp.AppendJSONString(dst, name), ':'), value...)
	})
	return append(dst, '}')
}

// nothing appends nothing.
func nothing(dst []byte) []byte { return dst }

// member returns the first member of a JSON object that has a name; nil: it has none.
func member(object []byte, name string) (value []byte) {
	ahp.EachMember(object, func(key string, v []byte) {
		if key == name && value == nil {
			value = v
		}
	})
	return value
}

// appendString returns what appends a member that is a string.
func appendString(name, value string) func(dst []byte) []byte {
	return func(dst []byte) []byte {
		dst = append(ahp.AppendJSONString(dst, name), ':')
		return ahp.AppendJSONString(dst, value)
	}
}

// appendRequest appends a message for a host, with another channel in its params. id is 0 for a
// notification.
func appendRequest(dst []byte, id uint64, method string, params []byte, channel string,
	without ...string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != 0 {
		dst = strconv.AppendUint(append(dst, `,"id":`...), id, 10)
	}
	dst = ahp.AppendJSONString(append(dst, `,"method":`...), method)
	dst = append(dst, `,"params":`...)
	dst = appendObject(dst, params, appendString("channel", channel), append(without, "channel")...)
	return append(dst, "}\n"...)
}

// appendNote returns a notification for the client, with another channel.
func appendNote(method string, params []byte, channel string) []byte {
	dst := ahp.AppendJSONString([]byte(`{"jsonrpc":"2.0","method":`), method)
	dst = append(dst, `,"params":`...)
	return append(appendObject(dst, params, appendString("channel", channel), "channel"), '}')
}

// appendEnvelope returns the notification of an action for the client, up to the serverSeq.
func appendEnvelope(e *ahp.Envelope, channel string) []byte {
	dst := make([]byte, 0, len(e.Action)+len(channel)+160)
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+ahp.MethodAction+`","params":{"channel":`...)
	dst = ahp.AppendJSONString(dst, channel)
	dst = append(append(dst, `,"action":`...), e.Action...)
	if e.Origin != nil {
		dst = append(append(dst, `,"origin":`...), ahp.Encode(e.Origin)...)
	}
	if e.RejectionReason != "" {
		dst = ahp.AppendJSONString(append(dst, `,"rejectionReason":`...), e.RejectionReason)
	}
	return append(dst, `,"serverSeq":`...)
}

// snapshot returns a snapshot for the client, up to the fromSeq's number, and the number that it
// has at its host.
func snapshot(raw []byte, channel, host string) (text []byte, fromSeq uint64, err error) {
	state := member(raw, "state")
	if len(state) == 0 || state[0] != '{' {
		return nil, 0, errMessage
	}
	if fromSeq, err = strconv.ParseUint(string(member(raw, "fromSeq")), 10, 64); err != nil {
		return nil, 0, errMessage
	}
	meta := member(state, "_meta")
	text = append(make([]byte, 0, len(raw)+len(channel)+len(host)+64), `{"resource":`...)
	text = append(ahp.AppendJSONString(text, channel), `,"state":`...)
	text = appendObject(text, state, func(dst []byte) []byte {
		dst = append(dst, `"_meta":`...)
		return appendObject(dst, meta, func(dst []byte) []byte {
			dst = append(dst, `"termhost":`...)
			return appendObject(dst, member(meta, "termhost"), appendString("host", host),
				"host", "unreachable")
		}, "termhost")
	}, "_meta")
	return append(text, `,"fromSeq":`...), fromSeq, nil
}

// dataSize returns how many bytes of output an action has, as its host counts them.
func dataSize(action []byte) (n int64) {
	if !bytes.HasPrefix(action, []byte(`{"type":"terminal/data"`)) { // as termhost writes it
		return 0
	}
	return textSize(member(action, "data"))
}

// textSize returns the length of a JSON string's text in UTF-8.
func textSize(quoted []byte) (n int64) {
	for i := 1; i < len(quoted)-1; {
		switch {
		case quoted[i] != '\\':
			i, n = i+1, n+1
		case quoted[i+1] != 'u' || i+6 > len(quoted):
			i, n = i+2, n+1
		default:
			code, _ := strconv.ParseUint(string(quoted[i+2:i+6]), 16, 16)
			if i += 6; code >= 0xd800 && code < 0xe000 {
				n += 2 // a half of a pair, which is four together
			} else {
				n += int64(utf8.RuneLen(rune(code)))
			}
		}
	}
	return n
}

// numbered returns a function that appends text, a number and end.
func numbered(text []byte, end string) func(dst []byte, seq uint64) []byte {
	return func(dst []byte, seq uint64) []byte {
		return append(strconv.AppendUint(append(dst, text...), seq, 10), end...)
	}
}

package mcpproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"termhost/ahp"
)

// MCP's methods that the proxy looks at.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodCall        = "tools/call"
	methodPing        = "ping"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
)

// readingTool reports whether a tool of the host's only reads, so that it may be called again.
func readingTool(name string) bool {
	return name == "terminal_read" || name == "terminal_list"
}

// metaVersion is the key of _meta that only requests of era 2026-07-28 have. Their results say that
// they are complete.
const metaVersion = "io.modelcontextprotocol/protocolVersion"

// metaEnded is a key of _meta of results: true says that the call has ended with its connection.
// It is MetaEnded of package ahp/mcp.
const metaEnded = "termhost/ended"

// Keys of _meta: which instance of a client this is, and its number among those that call
// themselves the same. They are MetaInstance and MetaNumber of package ahp/mcp.
const (
	metaInstance = "termhost/instance"
	metaNumber   = "termhost/number"
)

// message is a JSON-RPC message. Its fields are parts of line.
type message struct {
	line   []byte // the whole message, without its line end
	id     []byte // nil: there is none
	key    string // stands for the id, however that is written; "": the id is null
	method string // "": it is a response
	params []byte
	failed bool // it is a response with an error
}

func (m *message) isRequest() bool  { return m.method != "" && m.id != nil }
func (m *message) isResponse() bool { return m.method == "" && m.id != nil }

// parse reads a line, which has no blanks around it. The error says what is wrong with it.
func parse(line []byte) (*message, *ahp.Error) {
	invalid := func(why string) (*message, *ahp.Error) {
		return nil, ahp.NewError(ahp.CodeInvalidRequest, why)
	}
	switch {
	case !json.Valid(line):
		return nil, ahp.NewError(ahp.CodeParse, "the line is not JSON")
	case line[0] == '[':
		return invalid("batches are not supported: send one message at a time")
	case line[0] != '{':
		return invalid("a message is a JSON object")
	}
	m := &message{line: line}
	seen := map[string]bool{}
	twice, answers := false, false
	ahp.EachMember(line, func(name string, value []byte) {
		twice = twice || seen[name]
		seen[name] = true
		switch name {
		case "id":
			m.id = value
		case "method":
			m.method = text(value)
		case "params":
			m.params = value
		case "result", "error":
			answers = true
			m.failed = m.failed || name == "error"
		}
	})
	if m.id != nil {
		var ok bool
		if m.key, ok = keyOf(m.id); !ok && !(m.method == "" && string(m.id) == "null") {
			return invalid("an id is a string or an integer")
		}
	}
	switch {
	case twice:
		return invalid("a member of the message is there twice")
	case m.method == "" && seen["method"], m.method != "" && answers,
		m.method == "" && !(answers && m.id != nil):
		return invalid("this is not a JSON-RPC 2.0 message")
	}
	return m, nil
}

// keyOf returns what stands for an id, however that is written.
func keyOf(id []byte) (key string, ok bool) {
	if id[0] == '"' {
		return "s" + text(id), true
	}
	n, err := strconv.ParseFloat(string(id), 64)
	if whole := int64(n); err == nil && float64(whole) == n {
		return "n" + strconv.FormatInt(whole, 10), true
	}
	return "", false
}

// text returns the value of a JSON string; "" for anything else.
func text(value []byte) string {
	var s string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// member returns the value that names lead to, from object to object; nil: there is none.
func member(object []byte, names ...string) (found []byte) {
	found = object
	for _, wanted := range names {
		inner := found
		found = nil
		if len(inner) == 0 {
			return nil
		}
		ahp.EachMember(inner, func(name string, value []byte) {
			if name == wanted {
				found = value
			}
		})
	}
	return found
}

// repeatable reports whether a request may be sent again when its answer was lost.
func (m *message) repeatable() bool {
	return m.method != methodCall || readingTool(text(member(m.params, "name")))
}

// failure is the answer to a request that the host has not answered. A call of a tool gets a
// result, which reaches the model.
func (m *message) failure(why string) []byte {
	if m.method != methodCall {
		return refusal(m.id, ahp.NewError(ahp.CodeInternal, why))
	}
	kind := ""
	if member(m.params, "_meta", metaVersion) != nil {
		kind = `"resultType":"complete",`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":`+
		`{%s"content":[{"type":"text","text":%s}],"isError":true}}`,
		m.id, kind, quoted("error: "+why))
}

// refusal is a response with an error. An id of nil becomes null.
func refusal(id []byte, e *ahp.Error) []byte {
	if id == nil {
		id = []byte("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`,
		id, e.Code, quoted(e.Message))
}

// request is a request of the proxy's own. Without params it has none.
func request(id, method string, params []byte) []byte {
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s`, quoted(id), quoted(method))
	if params != nil {
		line = append(append(line, `,"params":`...), params...)
	}
	return append(line, '}')
}

// quoted returns a text as a JSON string.
func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a text can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// lastID matches the id at the end of a message, where some clients write it.
var lastID = regexp.MustCompile(`"id"\s*:\s*(-?[0-9]+|"(?:[^"\\]|\\.)*")\s*\}\s*$`)

// idWithin looks for the id of a message of which only the head and the tail are known; nil: it is
// not in there.
func idWithin(head, tail []byte) (id []byte) {
	ahp.EachMember(head, func(name string, value []byte) {
		if _, ok := keyOf(value); name == "id" && ok {
			id = value
		}
	})
	if m := lastID.FindSubmatch(tail); id == nil && m != nil {
		id = m[1]
	}
	return id
}

package viewtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// line is a peer that speaks JSON-RPC on a subsystem.
type line struct {
	c    *client
	in   io.Writer
	come chan string // what the host sends, line by line; closed at its end
	next int
}

func (c *client) subsystem(name string) *line {
	c.s.t.Helper()
	session, err := c.NewSession()
	hosttest.Check(c.s.t, err)
	in, err := session.StdinPipe()
	hosttest.Check(c.s.t, err)
	out, err := session.StdoutPipe()
	hosttest.Check(c.s.t, err)
	hosttest.Check(c.s.t, session.RequestSubsystem(name))
	l := &line{c: c, in: in, come: make(chan string, 1000)}
	go func() {
		defer close(l.come)
		r := bufio.NewReader(out)
		for {
			text, err := r.ReadString('\n')
			if err != nil {
				return
			}
			l.come <- text
		}
	}()
	return l
}

// ahp opens a connection that has asked for all notifications and follows all that its principal
// sees.
func (c *client) ahp() *line {
	l := c.subsystem("ahp")
	l.call("initialize", `{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"views of `+
		c.p.Name+`","_meta":{"termhost/asks":{},"termhost/asked":{},"termhost/clipboard":{},`+
		`"termhost/picture":{}}}`)
	return l
}

// mcp opens an MCP session.
func (c *client) mcp() *line {
	l := c.subsystem("mcp")
	l.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},`+
		`"clientInfo":{"name":"views","version":"1"}}`)
	l.notify("notifications/initialized", "{}")
	return l
}

func (l *line) notify(method, params string) {
	_, err := fmt.Fprintf(l.in, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params)
	hosttest.Check(l.c.s.t, err)
}

// ask sends a request, and returns its id.
func (l *line) ask(method, params string) (id int) {
	l.next++
	_, err := fmt.Fprintf(l.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", l.next, method,
		params)
	hosttest.Check(l.c.s.t, err)
	return l.next
}

// call sends a request, and returns all that comes up to its answer.
func (l *line) call(method, params string) string {
	l.c.s.t.Helper()
	id := l.ask(method, params)
	return l.until(method, func(text string) bool {
		var m struct {
			ID     int
			Method string
		}
		return json.Unmarshal([]byte(text), &m) == nil && m.ID == id && m.Method == ""
	})
}

// until returns all that comes up to a line that is wanted.
func (l *line) until(what string, wanted func(string) bool) string {
	l.c.s.t.Helper()
	var all strings.Builder
	for {
		text := slowtest.Receive(l.c.s.t, what, l.come)
		all.WriteString(text)
		if text == "" || wanted(text) {
			return all.String()
		}
	}
}

// terminalParams are those of createTerminal.
func (l *line) terminalParams(name, extras string) string {
	return fmt.Sprintf(`{"channel":"ahp-terminal:/%s","claim":{"kind":"client","clientId":%q},`+
		`"_meta":{"termhost":{%s}}}`, name, "views of "+l.c.p.Name, extras)
}

func (l *line) create(name, extras string) {
	l.c.s.t.Helper()
	if got := l.call("createTerminal", l.terminalParams(name, extras)); strings.Contains(got, `"error"`) {
		l.c.s.t.Fatalf("createTerminal: %s", got)
	}
}

// sends asks for a terminal whose program has to be approved.
func (l *line) sends(name, extras string) { l.ask("createTerminal", l.terminalParams(name, extras)) }

// types sends input; text is JSON without quotes.
func (l *line) types(name, text string) {
	l.next++
	l.notify("dispatchAction", fmt.Sprintf(`{"channel":"ahp-terminal:/%s","clientSeq":%d,`+
		`"action":{"type":"terminal/input","data":"%s"}}`, name, l.next, text))
}

package rpc_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
)

var update = flag.Bool("update", false, "write what the host answers into the conversation files")

// TestConversations plays the files of testdata/conversations. Their lines are:
//
//	config: KEY=N ...    limits of the host (logbytes, terminals, subscriptions, grace)
//	A: connect NAME      A is a new connection of the principal NAME
//	A> MESSAGE           what A sends; <mark> stands for a number
//	A< MESSAGE           what it is sent before a ping that follows is answered,
//	                     with <seq>, <time>, <ms>, <dir> and <home> for what
//	                     differs
//	A: wait TEXT         read on to a message that contains TEXT
//	A: mark NAME         remember the last serverSeq that A has seen
//	A: gone              A's transport ends
//	A: closed "REASON"   the host has ended it
//	clock: DURATION      the host's clock is put forward
//	# comment
//
// -update writes the "<" and "closed" lines anew. What comes in its own time is
// shown where it is waited for, and output of programs is joined, because it may
// be cut anywhere.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	schemas := loadSchemas(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := &conversation{t: t, schemas: schemas, clock: newClock(), peers: map[string]*speaker{}, marks: map[string]uint64{}}
			c.play(string(want))
			if got := c.out.Bytes(); !bytes.Equal(got, want) {
				if *update {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				t.Errorf("the conversation went another way (-update writes it down):\n%s", difference(string(want), string(got)))
			}
		})
	}
}

// conversation is one file being played.
type conversation struct {
	t       *testing.T
	schemas *schemas // nil: not there
	clock   *clock
	cfg     host.Config
	opts    rpc.Options
	host    *host.Host
	peers   map[string]*speaker
	order   []*speaker
	marks   map[string]uint64
	out     bytes.Buffer
}

// speaker is one connection of a conversation.
type speaker struct {
	name   string
	pipe   *pipe
	open   bool
	asked  map[string]string // methods by id
	strict bool              // AHP 0.5 was agreed on: the schemas say what is right
	last   uint64            // the newest serverSeq
	held   []string          // what came in its own time and has not been waited for
}

func (c *conversation) play(script string) {
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "", line[0] == '#':
			c.print(line)
		case strings.HasSuffix(name, "<"), strings.HasSuffix(name, ":") && strings.HasPrefix(rest, "closed"):
			// The host's part is written anew.
		case name == "config:":
			c.print(line)
			c.configure(rest)
		case name == "clock:":
			c.print(line)
			d, err := time.ParseDuration(rest)
			if err != nil {
				c.t.Fatal(err)
			}
			c.clock.advance(d)
		case strings.HasSuffix(name, ">"):
			c.print(line)
			c.say(c.peers[name[:len(name)-1]], rest)
		case strings.HasSuffix(name, ":"):
			c.print(line)
			c.direct(name[:len(name)-1], rest)
		default:
			c.t.Fatalf("cannot read the line %q", line)
		}
	}
}

func (c *conversation) print(line string) { c.out.WriteString(line + "\n") }

func (c *conversation) configure(rest string) {
	for _, f := range strings.Fields(rest) {
		key, value, _ := strings.Cut(f, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			c.t.Fatal(err)
		}
		switch key {
		case "logbytes":
			c.cfg.LogBytes = n
		case "terminals":
			c.cfg.MaxTerminals = n
		case "grace": // seconds
			c.cfg.ClientGrace = time.Duration(n) * time.Second
		case "subscriptions":
			c.opts.MaxSubscriptions = n
		default:
			c.t.Fatalf("unknown key %q", key)
		}
	}
}

func (c *conversation) direct(name, rest string) {
	verb, arg, _ := strings.Cut(rest, " ")
	s := c.peers[name]
	switch verb {
	case "connect":
		if c.host == nil {
			c.cfg.Now = c.clock.now
			c.host = newHost(c.t, c.cfg)
		}
		p, ok := principals()[arg]
		if !ok {
			c.t.Fatalf("who is %q?", arg)
		}
		s = &speaker{name: name, pipe: serve(c.t, c.host, p, c.opts), open: true, asked: map[string]string{}}
		c.peers[name] = s
		c.order = append(c.order, s)
	case "wait":
		c.wait(s, arg)
	case "mark":
		c.marks[arg] = s.last
	case "gone":
		s.open = false
		s.pipe.Close("gone")
	default:
		c.t.Fatalf("unknown direction %q", rest)
	}
}

var markPattern = regexp.MustCompile(`<(\w+)>`)

// say sends a line and shows what everybody is told before the host answers a
// ping.
func (c *conversation) say(s *speaker, line string) {
	line = markPattern.ReplaceAllStringFunc(line, func(m string) string {
		if n, ok := c.marks[m[1:len(m)-1]]; ok {
			return strconv.FormatUint(n, 10)
		}
		return m
	})
	if strings.HasPrefix(line, `"`) { // a Go string: for what a line of text cannot hold
		text, err := strconv.Unquote(line)
		if err != nil {
			c.t.Fatal(err)
		}
		line = text
	}
	var m ahp.Message
	if json.Unmarshal([]byte(line), &m) == nil && m.ID != nil {
		s.asked[string(m.ID)] = m.Method
	}
	c.clock.advance(time.Second)
	s.pipe.send(c.t, []byte(line))
	c.sync(s)
	for _, other := range c.order {
		if other != s && other.open {
			c.sync(other)
		}
	}
}

func (c *conversation) sync(s *speaker) {
	s.pipe.send(c.t, []byte(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`))
	lines := s.held
	s.held = nil
	for {
		msg := s.pipe.next(c.t)
		if msg == nil {
			break
		}
		if string(msg) == `{"jsonrpc":"2.0","id":"sync","result":null}` {
			s.held = c.show(s, lines, func(i int) bool {
				return list.MatchString(lines[i]) || s.disposes(lines[i]) ||
					program.MatchString(lines[i]) && !slices.ContainsFunc(lines[i:], func(l string) bool { return !s.late(l) })
			})
			return
		}
		lines = joined(lines, c.line(s, msg))
	}
	s.open = false
	c.show(s, lines, func(int) bool { return false })
	c.print(fmt.Sprintf("%s: closed %q", s.name, s.pipe.reason))
}

var (
	list    = regexp.MustCompile(`^{"jsonrpc":"2.0","method":"action".*"type":"root/terminalsChanged","terminals"`)
	program = regexp.MustCompile(`^{"jsonrpc":"2.0","method":"action".*"type":"(terminal/data","data":"[^"]|terminal/exited"[^}]*}(}})?,"serverSeq")`)
)

// late reports whether a line comes in its own time: the root's list, what a
// program does, and the answer to disposeTerminal.
func (s *speaker) late(line string) bool {
	return list.MatchString(line) || program.MatchString(line) || s.disposes(line)
}

func (s *speaker) disposes(line string) bool {
	m := answer.FindStringSubmatch(line)
	return m != nil && s.asked[m[1]] == "disposeTerminal"
}

var answer = regexp.MustCompile(`^{"jsonrpc":"2.0","id":([^,]+),`)

// wait shows what comes up to a line that contains text. Of the root's lists it
// shows that line only: how many there are before it depends on the time.
func (c *conversation) wait(s *speaker, text string) {
	lines := s.held
	for {
		for i, l := range lines {
			if strings.Contains(l, text) {
				kept := c.show(s, lines[:i+1], func(j int) bool { return j != i && list.MatchString(lines[j]) })
				if list.MatchString(l) {
					kept = nil
				}
				s.held = append(kept, lines[i+1:]...)
				return
			}
		}
		msg := s.pipe.next(c.t)
		if msg == nil {
			c.t.Fatalf("%s was never told %q, only:\n%s", s.name, text, strings.Join(lines, "\n"))
		}
		lines = joined(lines, c.line(s, msg))
	}
}

// show prints lines, but for those that are to be held, which it returns.
func (c *conversation) show(s *speaker, lines []string, hold func(i int) bool) (held []string) {
	for i, l := range lines {
		if hold(i) {
			held = append(held, l)
		} else {
			c.print(s.name + "< " + l)
		}
	}
	return held
}

var (
	dataPattern = regexp.MustCompile(`^(.*"action":\{"type":"terminal/data","data":".*)("\},"serverSeq":<seq>\}\})$`)
	volatile    = []struct {
		pattern *regexp.Regexp
		stand   string
	}{
		{regexp.MustCompile(`"(serverSeq|fromSeq)":\d+`), `"$1":<seq>`},
		{regexp.MustCompile(`"timestamp":\d+`), `"timestamp":<time>`},
		{regexp.MustCompile(`"durationMs":\d+`), `"durationMs":<ms>`},
		{regexp.MustCompile(`"defaultDirectory":"[^"]*"`), `"defaultDirectory":"<dir>"`},
	}
)

// joined appends a line; output that follows output of the same terminal goes
// into the same line.
func joined(lines []string, line string) []string {
	if n := len(lines); n > 0 {
		a, b := dataPattern.FindStringSubmatch(lines[n-1]), dataPattern.FindStringSubmatch(line)
		const open = `"data":"`
		if a != nil && b != nil {
			i := strings.Index(b[1], open) + len(open)
			if strings.HasPrefix(a[1], b[1][:i]) {
				lines[n-1] = a[1] + b[1][i:] + a[2]
				return lines
			}
		}
	}
	return append(lines, line)
}

// line checks a message of the host and returns it as files show it.
func (c *conversation) line(s *speaker, msg []byte) string {
	c.check(s, msg)
	text := string(msg)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.stand)
	}
	if u, err := user.Current(); err == nil {
		text = strings.ReplaceAll(text, `"cwd":"`+ahp.FileURI(u.HomeDir)+`"`, `"cwd":"<home>"`)
	}
	return text
}

func (c *conversation) check(s *speaker, msg []byte) {
	c.t.Helper()
	var m ahp.Message
	if err := json.Unmarshal(msg, &m); err != nil || m.Version != "2.0" {
		c.t.Fatalf("%s is no JSON-RPC message: %v", msg, err)
	}
	if m.Method != "" {
		var e ahp.Envelope
		if err := json.Unmarshal(m.Params, &e); err != nil {
			c.t.Fatalf("%s: %v", msg, err)
		}
		c.rising(s, e.ServerSeq, msg)
		// A rejected action is what its sender made it, and AHP 0.5 does not know
		// terminal/output.
		if s.strict && e.RejectionReason == "" && !bytes.Contains(e.Action, []byte(`"type":"terminal/output"`)) {
			c.schemas.check(c.t, "actions", "ActionEnvelope", m.Params)
		}
		return
	}
	if m.Error != nil {
		return
	}
	var r struct {
		ProtocolVersion string         `json:"protocolVersion"`
		ServerSeq       uint64         `json:"serverSeq"`
		Actions         []ahp.Envelope `json:"actions"`
	}
	method := s.asked[string(m.ID)]
	if err := json.Unmarshal(m.Result, &r); err == nil && r.ProtocolVersion != "" {
		s.strict = strings.HasPrefix(r.ProtocolVersion, "0.5.")
		s.last = r.ServerSeq
	}
	for _, e := range r.Actions {
		c.rising(s, e.ServerSeq, msg)
	}
	if s.strict {
		c.schemas.result(c.t, method, m.Result)
	}
}

func (c *conversation) rising(s *speaker, seq uint64, msg []byte) {
	c.t.Helper()
	if seq <= s.last {
		c.t.Errorf("serverSeq fell from %d: %s", s.last, msg)
	}
	s.last = seq
}

// difference shows the first line that differs, with its neighbours.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; i < len(w) || i < len(g); i++ {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			before := w[max(0, i-2):min(i, len(w))]
			return fmt.Sprintf("line %d, after\n  %s\nthe file has\n- %s\nand the host gave\n+ %s", i+1, strings.Join(before, "\n  "), a, b)
		}
	}
	return ""
}

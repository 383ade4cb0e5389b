package rpc_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/ahptest"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

var update = flag.Bool("update", false, "write what the host answers into the conversation files")

// TestConversations plays the files of testdata/conversations. Their lines are:
//
//	config: KEY=N ...    limits of the host (logbytes, terminals, subscriptions, grace, guard)
//	A: connect NAME      A is a new connection of the principal NAME
//	A> MESSAGE           what A sends; <NAME> is the number that is remembered as NAME
//	A< MESSAGE           what A gets until a ping that it sends next is answered, with
//	                     <seq>, <time>, <ms>, <dir> and <home> for what differs
//	A: wait TEXT         read on to a message that contains TEXT
//	A: remember NAME     remember the last serverSeq that A has seen
//	A: gone              A's transport ends
//	A: closed "REASON"   the host has ended it
//	clock: DURATION      the host's clock is put forward
//	# comment
//
// -update writes the "<" and "closed" lines anew. Messages whose time of arrival is
// not fixed are shown where the file waits for them. Output of programs is joined,
// because it may be split anywhere.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	schemas := ahptest.LoadSchemas(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := &conversation{t: t, schemas: schemas, clock: newClock(),
				peers: map[string]*speaker{}, remembered: map[string]uint64{}}
			c.play(string(want))
			if got := c.out.Bytes(); !bytes.Equal(got, want) {
				if *update {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				t.Errorf("the conversation differs from its file (-update writes the file):\n%s",
					difference(string(want), string(got)))
			}
		})
	}
}

// conversation is one file being played.
type conversation struct {
	t          *testing.T
	schemas    *ahptest.Schemas // nil: there are none
	clock      *clock
	changes    []func(*host.Config) // to the host's configuration
	opts       rpc.Options
	host       *host.Host
	peers      map[string]*speaker
	order      []*speaker
	remembered map[string]uint64
	out        bytes.Buffer
}

// speaker is one connection of a conversation.
type speaker struct {
	name   string
	pipe   *pipe
	open   bool
	asked  map[string]string // methods by id
	strict bool              // it speaks AHP 0.5, which there are schemas of
	last   uint64            // the newest serverSeq
	// Requests, by id: those that were answered, and those to create that were not so at once.
	answered, late map[string]bool
	held           []string // messages that are shown when they are waited for
}

func (c *conversation) play(script string) {
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "", line[0] == '#':
			c.print(line)
		case strings.HasSuffix(name, "<"),
			strings.HasSuffix(name, ":") && strings.HasPrefix(rest, "closed"):
			// What the host does is written anew.
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
		change := func(f func(*host.Config)) { c.changes = append(c.changes, f) }
		switch key {
		case "logbytes":
			change(func(cfg *host.Config) { cfg.LogBytes = n })
		case "terminals":
			change(func(cfg *host.Config) { cfg.MaxTerminals = n })
		case "grace": // seconds
			change(func(cfg *host.Config) { cfg.ClientGrace = time.Duration(n) * time.Second })
		case "guard":
			change(func(cfg *host.Config) { cfg.GuardAgents = n == 1 })
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
			c.changes = append(c.changes, func(cfg *host.Config) {
				cfg.Now, cfg.NoLookout = c.clock.now, true
			})
			c.host = hosttest.New(c.t, c.changes...)
		}
		p, ok := principals()[arg]
		if !ok {
			c.t.Fatalf("who is %q?", arg)
		}
		s = &speaker{name: name, pipe: serve(c.t, c.host, p, c.opts), open: true,
			asked: map[string]string{}, answered: map[string]bool{}, late: map[string]bool{}}
		c.peers[name] = s
		c.order = append(c.order, s)
	case "wait":
		c.wait(s, arg)
	case "remember":
		c.remembered[arg] = s.last
	case "gone":
		s.open = false
		s.pipe.Close("gone")
	default:
		c.t.Fatalf("unknown direction %q", rest)
	}
}

var namePattern = regexp.MustCompile(`<(\w+)>`)

// say sends a line and shows what all peers get until the host answers a ping of
// each.
func (c *conversation) say(s *speaker, line string) {
	line = namePattern.ReplaceAllStringFunc(line, func(m string) string {
		if n, ok := c.remembered[m[1:len(m)-1]]; ok {
			return strconv.FormatUint(n, 10)
		}
		return m
	})
	if strings.HasPrefix(line, `"`) { // a Go string, for what a line of text cannot hold
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
	if m.Method == "createTerminal" && !s.answered[string(m.ID)] { // a person has to say yes
		s.late[string(m.ID)] = true
	}
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
			prompt := func(line string) bool { return !s.comesLate(line) }
			s.held = c.show(s, lines, func(i int) bool {
				return list.MatchString(lines[i]) || s.answersLate(lines[i]) ||
					strings.Contains(lines[i], ahp.MethodWanting) ||
					program.MatchString(lines[i]) && !slices.ContainsFunc(lines[i:], prompt)
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
	list    = regexp.MustCompile(actionPattern + `root/terminalsChanged","terminals"`)
	program = regexp.MustCompile(actionPattern +
		`(terminal/data","data":"[^"]|terminal/exited"[^}]*}(}})?,"serverSeq")`)
)

const actionPattern = `^{"jsonrpc":"2.0","method":"action".*"type":"`

// comesLate reports whether the time at which a line comes is not fixed: the root's list,
// what a program does or wants, the answers to disposeTerminal and termhost/wait, and that to a
// createTerminal which a person had to decide.
func (s *speaker) comesLate(line string) bool {
	return list.MatchString(line) || program.MatchString(line) || s.answersLate(line) ||
		strings.Contains(line, ahp.MethodWanting)
}

func (s *speaker) answersLate(line string) bool {
	m := answer.FindStringSubmatch(line)
	return m != nil && (s.asked[m[1]] == "disposeTerminal" || s.asked[m[1]] == ahp.MethodWait ||
		s.late[m[1]])
}

var answer = regexp.MustCompile(`^{"jsonrpc":"2.0","id":([^,]+),`)

// wait shows what comes up to a line that contains text. It leaves out the root's
// lists before that line, whose number depends on the time.
func (c *conversation) wait(s *speaker, text string) {
	lines := s.held
	for {
		for i, l := range lines {
			if strings.Contains(l, text) {
				kept := c.show(s, lines[:i+1], func(j int) bool {
					return j != i && list.MatchString(lines[j])
				})
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

// show prints lines, except those to hold, which it returns.
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

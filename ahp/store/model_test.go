package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/ahptest"
)

// The model drives a store at random and knows what the states must be: ref is the state of
// each terminal, folded from everything that was ever appended, without a bound. Every reader
// folds what it is sent into a mirror of its own. Once a reader has pulled everything, its
// mirrors equal ref, and so do the store's own states, except that their heads may be cut. A
// cut is at a checkpoint, and the preamble is in its place.

const (
	modelLog     = 6 << 10
	modelContent = 4 << 10
	modelAppend  = modelContent / 2 // the most that is appended at once
)

// terminal is a terminal of the store and what is known of it.
type terminal struct {
	ch           *Channel
	ref          ahp.TerminalState // folded from what a client reads: see asRead
	text         int               // bytes of output there ever were, as read
	raw          string            // the output since it was cleared last, byte for byte
	places       int64             // bytes of output and other actions there ever were
	checkpointed map[int]bool
	nextID       int

	retired bool // its URI is free
	gone    bool
}

// model is one run.
type model struct {
	t     *testing.T
	c     ahptest.Choices
	s     *Store
	terms []*terminal
	list  []ahp.TerminalInfo // the root's list as last published
	conns []*conn
	log   []string // what was done, for a failure
}

func newModel(t *testing.T, c ahptest.Choices) *model {
	o := Options{FirstSeq: 1000, LogBytes: modelLog, ContentBytes: modelContent}
	m := &model{t: t, c: c, s: New(o)}
	const agents, viewers = 5, 2
	for i := range agents + viewers {
		c := &conn{m: m, raw: i >= agents, mirrors: map[string]*mirror{}, left: map[string]int{}}
		c.sub = m.s.NewSubscriber(c.raw)
		if !c.raw {
			c.id, c.shape = fmt.Sprintf("c%d", i), ahp.Shape(i%int(ahp.Shapes))
			c.sub.Identify(c.id)
		}
		m.conns = append(m.conns, c)
	}
	return m
}

func (m *model) did(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	last := m.log[max(0, len(m.log)-40):]
	m.t.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(last, "\n  "))
}

// run makes choices until there are no more, then lets everybody catch up.
func (m *model) run() {
	for m.c.More() {
		m.step()
		m.checkStore()
	}
	m.settle()
	for _, c := range m.conns {
		c.sub.Close()
	}
	m.checkStore()
}

func (m *model) step() {
	switch n := m.c.N(100); {
	case n < 40:
		m.withTerminal(m.appendOutput)
	case n < 55:
		m.withTerminal(m.appendOther)
	case n < 58:
		m.addTerminal()
	case n < 59:
		m.withTerminal(m.retireTerminal)
	case n < 60:
		m.withTerminal(m.removeTerminal)
	case n < 62:
		m.publish()
	case n < 70:
		m.conn().subscribe()
	case n < 73:
		m.conn().unsubscribe()
	case n < 88:
		m.conn().pull()
	case n < 91:
		m.conn().stall()
	case n < 94:
		m.conn().answer()
	case n < 98:
		m.conn().cut()
	default:
		m.settle()
	}
}

// conn returns one of the connections. If it was cut, it reconnects.
func (m *model) conn() *conn {
	c := m.conns[m.c.N(len(m.conns))]
	c.comeBack()
	return c
}

func (m *model) withTerminal(f func(*terminal)) {
	var alive []*terminal
	for _, tm := range m.terms {
		if !tm.gone {
			alive = append(alive, tm)
		}
	}
	if len(alive) == 0 {
		m.addTerminal()
		return
	}
	f(alive[m.c.N(len(alive))])
}

func (m *model) addTerminal() {
	const uris = 4 // few, so that they are used again
	uri := ahp.TerminalURI(fmt.Sprintf("t%d", m.c.N(uris)))
	st := ahp.TerminalState{Title: "new", Claim: ahp.ClientClaim("c0"), Cols: 80, Rows: 24,
		IsPty: true, Client: m.c.N(3) == 0}
	ch, err := m.s.Add(uri, st)
	if m.current(uri) != nil {
		if err != ErrExists {
			m.fail("a taken URI gives %v", err)
		}
		return
	}
	if err != nil {
		m.fail("Add: %v", err)
	}
	ch.List()
	m.did("add %s", uri)
	m.terms = append(m.terms, &terminal{ch: ch, ref: st, checkpointed: map[int]bool{}})
}

func (m *model) current(uri string) *terminal {
	for _, tm := range m.terms {
		if !tm.gone && !tm.retired && tm.ch.URI() == uri {
			return tm
		}
	}
	return nil
}

func (m *model) retireTerminal(tm *terminal) {
	m.did("retire %s", tm.ch.URI())
	tm.ch.Retire()
	tm.retired = true
}

func (m *model) removeTerminal(tm *terminal) {
	m.did("remove %s", tm.ch.URI())
	code := m.c.N(3)
	tm.append(ahp.TerminalExited{ExitCode: &code})
	tm.ch.Remove()
	tm.gone = true
	if tm.ch.Append(ahp.TerminalCleared{}, nil) != 0 {
		m.fail("a removed channel took an action")
	}
}

func (m *model) publish() {
	m.s.PublishTerminals()
	m.list = nil
	for _, tm := range m.terms {
		if !tm.gone && !tm.retired {
			r := tm.ref
			info := ahp.TerminalInfo{Resource: tm.ch.URI(), Title: r.Title,
				Claim: r.Claim, Exited: r.Exited, ExitCode: r.ExitCode, Client: r.Client}
			info.Termhost.Cwd = r.Cwd
			if last := tm.ch.Summary().LastCommand; last != nil { // as far as it is retained
				info.Termhost.Last = ahp.LastCommandOf(last)
			}
			m.list = append(m.list, info)
		}
	}
	m.did("publish %d", len(m.list))
}

// appendOutput appends output in pieces. Those of a client-executed terminal are whole
// runes, and the owner's echo follows them. Those of other terminals are cut anywhere, within
// runes as well: a program may stop in the middle of one.
func (m *model) appendOutput(tm *terminal) {
	owned, owner := tm.ref.Client, m.conns[0]
	if owned && owner.offline {
		return
	}
	if owned && m.c.N(8) == 0 {
		m.did("nothing to %s", tm.ch.URI())
		m.echo(tm, "")
		return
	}
	size := 1 + m.c.N(50)
	if m.c.N(8) == 0 {
		size = 1 + m.c.N(256)*modelAppend/256
	}
	p := output(tm.text, size)
	m.did("data %d to %s", size, tm.ch.URI())
	var due bool
	for rest := p; ; {
		piece := []byte(rest)
		if owned || m.c.N(2) == 0 {
			n := 1 + m.c.N(len(piece))
			for owned && n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			piece = piece[:n]
		}
		rest = rest[len(piece):]
		tm.raw += string(piece)
		tm.places += int64(len(piece))
		read := asRead(piece)
		tm.text += len(read)
		tm.ref.Apply(ahp.TerminalData{Data: read})
		due = tm.ch.AppendData(piece)
		clear(piece) // it was copied
		if rest == "" {
			break
		}
	}
	if owned {
		m.echo(tm, p)
	}
	if due != tm.ch.CheckpointDue() {
		m.fail("CheckpointDue differs from what the append said")
	}
	m.checkpoint(tm, due)
}

// echo answers the owner's output. Output that prints nothing is answered as well.
func (m *model) echo(tm *terminal, p string) {
	owner := m.conns[0]
	owner.clientSeq++
	owner.echoes = append(owner.echoes, owner.clientSeq)
	o := &ahp.Origin{ClientID: owner.id, ClientSeq: owner.clientSeq}
	if owner.sub.Subscribed(tm.ch) {
		tm.ch.Echo(ahp.TerminalOutput{Data: []byte(p)}, o)
	} else {
		owner.sub.Answer(tm.ch.uri, ahp.TerminalOutput{}, o, "")
	}
}

func (m *model) checkpoint(tm *terminal, due bool) {
	if due || m.c.N(30) == 0 {
		tm.ch.Checkpoint([]byte(fmt.Sprintf("<<%d>>", tm.text)))
		tm.checkpointed[tm.text] = true
	}
}

// output returns about size bytes of text that say where they stand. Some must be escaped in
// JSON, and there are runes of every length.
func output(at, size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "\x1b[3%dm%d\u00e9\u4e2d\U0001f600\"\\\r\n", at%8, at+b.Len())
	}
	return b.String()
}

// asRead returns a piece of output as a client reads it in JSON, which has U+FFFD for what is
// not UTF-8.
func asRead(piece []byte) []byte {
	var s string
	if err := json.Unmarshal(ahp.AppendJSONString(nil, piece), &s); err != nil {
		panic(err)
	}
	return []byte(s)
}

func (tm *terminal) append(a ahp.Action) {
	tm.ref.Apply(a)
	tm.places++
	if _, ok := a.(ahp.TerminalCleared); ok {
		tm.raw = ""
	}
	tm.ch.Append(a, nil)
}

func (m *model) appendOther(tm *terminal) {
	n := m.c.N(1000)
	kind := n % 9
	if tm.ref.Client && kind == 3 {
		kind = 0 // its claim stays
	}
	var a ahp.Action
	switch kind {
	case 0:
		a = ahp.TerminalResized{Cols: 1 + n, Rows: 2 + n}
	case 1:
		a = ahp.TerminalTitleChanged{Title: strings.Repeat("t", n)}
	case 2:
		a = ahp.TerminalCwdChanged{Cwd: ahp.FileURI(fmt.Sprintf("/d%d", n))}
	case 3:
		session := ahp.Claim{Kind: ahp.ClaimSession, Session: fmt.Sprintf("s:/%d", n), Chat: "c:/1"}
		a = ahp.TerminalClaimed{Claim: session}
	case 4, 5:
		tm.nextID++
		line := strings.Repeat("x", n%40)
		a = ahp.TerminalCommandExecuted{CommandID: fmt.Sprint(tm.nextID), CommandLine: line,
			Timestamp: int64(n)}
	case 6, 7:
		a = ahp.TerminalCommandFinished{CommandID: fmt.Sprint(tm.nextID), ExitCode: &n}
	default:
		if n%4 == 0 {
			a = ahp.TerminalCleared{}
		} else {
			a = ahp.TerminalCommandDetectionAvailable{}
		}
	}
	m.did("%s on %s", a.Type(), tm.ch.URI())
	tm.append(a)
	m.checkpoint(tm, tm.ch.CheckpointDue())
}

// settle has every reader pull all there is and compares.
func (m *model) settle() {
	m.did("settle")
	for _, c := range m.conns {
		c.comeBack()
		c.drain()
	}
	for _, tm := range m.terms {
		st, seq := tm.ch.Terminal()
		if seq != m.s.Seq() {
			m.fail("a state is of %d, not of %d", seq, m.s.Seq())
		}
		m.compare("the store", m.asRead(&st), tm)
	}
	for _, c := range m.conns {
		c.check()
	}
	m.checkStore()
	m.forgetGone()
}

// forgetGone drops removed terminals that nobody has a mirror of.
func (m *model) forgetGone() {
	kept := m.terms[:0]
	for _, tm := range m.terms {
		if !tm.gone {
			kept = append(kept, tm)
		}
	}
	m.terms = kept
}

func TestModel(t *testing.T) {
	const runs = 20 // and FuzzModel makes more
	for seed := range uint64(runs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			newModel(t, ahptest.RandomChoices(seed, 1500)).run()
		})
	}
}

func FuzzModel(f *testing.F) {
	ahptest.FuzzChoices(f, 100, 1<<13, func(t *testing.T, c ahptest.Choices) { newModel(t, c).run() })
}

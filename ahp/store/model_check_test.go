package store

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"termhost/ahp"
)

var preambleRE = regexp.MustCompile(`^<<(\d+)>>`)

func textOf(st *ahp.TerminalState) string {
	var b strings.Builder
	for i := range st.Content {
		b.WriteString(st.Content[i].Text.String())
	}
	return b.String()
}

// asRead returns a state as a client reads it.
func (m *model) asRead(st *ahp.TerminalState) *ahp.TerminalState {
	var read ahp.TerminalState
	if err := json.Unmarshal(st.AppendJSON(nil, ahp.ShapeLifecycle), &read); err != nil {
		m.fail("a state is no JSON: %v", err)
	}
	return &read
}

// compare fails unless st equals the terminal's ref up to trimming.
func (m *model) compare(who string, st *ahp.TerminalState, tm *terminal) {
	m.t.Helper()
	got, want := *st, tm.ref
	got.Content, want.Content = nil, nil
	if a, b := jsonOf(&got), jsonOf(&want); a != b {
		m.fail("%s of %s has\n%s, not\n%s", who, tm.ch.uri, a, b)
	}
	parts, ref := st.Content, tm.ref.Content
	if len(parts) > len(ref) {
		m.fail("%s of %s has %d parts, not %d", who, tm.ch.uri, len(parts), len(ref))
	}
	if len(parts) == 0 {
		if len(ref) > 0 {
			m.fail("%s of %s has no content", who, tm.ch.uri)
		}
		return
	}
	cut := len(ref) - len(parts)
	ref = ref[cut:]
	for i := range parts {
		a, b := parts[i], ref[i]
		if jsonOfCommand(a) != jsonOfCommand(b) {
			m.fail("%s of %s: part %d is another command", who, tm.ch.uri, i)
		}
		at, bt := a.Text.String(), b.Text.String()
		if i == 0 {
			at = m.compareHead(who, tm, at, bt, cut > 0, textOf(&ahp.TerminalState{Content: ref}))
			bt = bt[len(bt)-len(at):]
		}
		if at != bt {
			m.fail("%s of %s: part %d is\n%q, not\n%q", who, tm.ch.uri, i, at, bt)
		}
	}
}

// compareHead checks the text of the first part that is left, of which the head
// may be cut, and returns it without the preamble.
func (m *model) compareHead(who string, tm *terminal, got, want string, cut bool,
	rest string) string {
	m.t.Helper()
	match := preambleRE.FindStringSubmatch(got)
	if match == nil {
		if cut || len(got) != len(want) {
			m.fail("%s of %s was cut and has no preamble: %.40q", who, tm.ch.uri, got)
		}
		return got
	}
	got = got[len(match[0]):]
	at, _ := strconv.Atoi(match[1])
	left := len(got) + len(rest) - len(want) // what is behind the preamble, in all parts
	if !tm.checkpointed[at] || tm.text-left != at {
		m.fail("%s of %s was cut at %d, the preamble is that of %d",
			who, tm.ch.uri, tm.text-left, at)
	}
	if len(got) > len(want) {
		m.fail("%s of %s: the head is longer than ever", who, tm.ch.uri)
	}
	return got
}

func jsonOf(st *ahp.TerminalState) string { return string(st.AppendJSON(nil, ahp.ShapeExitCode)) }

// jsonOfCommand returns a part without its text.
func jsonOfCommand(p ahp.Part) string {
	return jsonOf(&ahp.TerminalState{Content: []ahp.Part{{Command: p.Command}}})
}

// check compares a connection's mirrors, once it has pulled everything.
func (c *conn) check() {
	m := c.m
	if len(c.answers) > 0 {
		m.fail("%s never got the answers to %v", c.name(), c.answers)
	}
	if len(c.echoes) > 0 {
		m.fail("%s never got the echoes of %v", c.name(), c.echoes)
	}
	for uri, mi := range c.mirrors {
		switch {
		case mi.of == nil:
			want := ahp.RootState{Terminals: m.list}
			a, b := string(mi.root.AppendJSON(nil, c.shape)), string(want.AppendJSON(nil, c.shape))
			if a != b {
				m.fail("%s has the root\n%s, not\n%s", c.name(), a, b)
			}
		case c.raw:
			shown := preambleRE.ReplaceAllString(mi.text, "")
			if full := mi.of.raw; !strings.HasSuffix(full, shown) {
				m.fail("%s shows of %s\n%q, not the end of\n%q", c.name(), uri, mi.text, full)
			}
		default:
			mi.terminal.Meta = mi.of.ref.Meta
			claimed := mi.terminal.Claim // the chat is not on the wire in every version
			if claimed.Kind == ahp.ClaimSession {
				claimed.Chat = mi.of.ref.Claim.Chat
			}
			mi.terminal.Claim = claimed
			m.compare(c.name(), &mi.terminal, mi.of)
		}
		if mi.of != nil && mi.of.gone {
			if c.sub.Subscribed(mi.of.ch) {
				m.fail("%s was not released from %s", c.name(), uri)
			}
			delete(c.mirrors, uri)
		}
	}
	for _, ch := range c.sub.Channels() {
		if c.mirrors[ch.uri] == nil {
			m.fail("%s reads %s without a mirror", c.name(), ch.uri)
		}
	}
}

// checkStore checks what must hold at all times.
func (m *model) checkStore() {
	m.t.Helper()
	for _, tm := range m.terms {
		m.checkContent(tm.ch)
		if tm.ch.log.position != tm.places {
			m.fail("%s: the log is at %d, not at %d", tm.ch.uri, tm.ch.log.position, tm.places)
		}
		m.checkLog(tm.ch)
	}
	m.checkLog(m.s.root)
	for _, c := range m.conns {
		m.checkSubscriber(c.sub)
	}
}

func (m *model) checkContent(ch *Channel) {
	m.t.Helper()
	c, sum := &ch.content, 0
	for i := range ch.state.Content {
		sum += partWeight(&ch.state.Content[i])
	}
	if sum != c.size() {
		m.fail("%s: the content weighs %d, accounted for are %d", ch.uri, sum, c.size())
	}
	if c.size() > modelContent+m.s.chunkBytes() {
		m.fail("%s: the content weighs %d", ch.uri, c.size())
	}
	for i, k := range c.checkpoints {
		if k.at > c.end || i > 0 && k.at <= c.checkpoints[i-1].at {
			m.fail("%s: checkpoint %d is at %d, the end at %d", ch.uri, i, k.at, c.end)
		}
	}
}

func (m *model) checkLog(ch *Channel) {
	m.t.Helper()
	l := &ch.log
	weight, counted := 0, 0
	for i, e := range l.entries {
		weight += e.weight
		counted += e.counted
		if kept := e.keptBytes(); kept > 0 && (e.counted == 0 || l.base+int64(i) < l.encodedFrom) {
			m.fail("%s: %d bytes of an encoding are not accounted for", ch.uri, kept)
		}
		if i == 0 {
			continue
		}
		last := l.entries[i-1]
		if e.seq <= last.seq || e.before != last.before+int64(last.weight) ||
			e.position != last.position+last.places() {
			m.fail("%s: entry %d does not follow the one before it", ch.uri, i)
		}
	}
	if weight != l.bytes || counted != l.encoded {
		m.fail("%s: the log weighs %d+%d, accounted for are %d+%d",
			ch.uri, weight, counted, l.bytes, l.encoded)
	}
	// Encodings that are about to be made may pass the bound until the next
	// append or the next pull.
	if l.bytes > modelLog && len(l.entries) > 1 {
		m.fail("%s: the log weighs %d", ch.uri, l.bytes)
	}
	needed := false
	encoders := 0
	for _, k := range ch.cursors {
		if !k.sub.raw {
			encoders++
			needed = needed || !k.laggingLocked() && k.done < l.end()
		}
	}
	if !needed && l.encoded > 0 {
		m.fail("%s: %d bytes of encodings that nobody needs", ch.uri, l.encoded)
	}
	if encoders != ch.encoders {
		m.fail("%s: %d readers need encodings, counted are %d", ch.uri, encoders, ch.encoders)
	}
}

func (m *model) checkSubscriber(sub *Subscriber) {
	m.t.Helper()
	for i, l := range sub.ready {
		if l.index != i || sub.cursors[l.ch.uri] != l || i > 0 && sub.ready[(i-1)/2].key > l.key {
			m.fail("the ready cursors are out of order")
		}
	}
	for _, l := range sub.cursors {
		ch := l.ch
		if !slices.Contains(ch.cursors, l) {
			m.fail("%s does not know a reader", ch.uri)
		}
		if l.pos == unstarted {
			if l.index != notReady || len(l.starts) == 0 {
				m.fail("an unstarted cursor on %s is ready, or will never be", ch.uri)
			}
		} else if l.pendingLocked() && (l.index == notReady) != l.stalled {
			m.fail("a reader of %s was not woken, or stalls and was", ch.uri)
		}
	}
	m.checkOutbox(&sub.outbox)
}

func (m *model) checkOutbox(o *outbox) {
	m.t.Helper()
	var want outbox
	for i, it := range o.items {
		if i > 0 && it.seq < o.items[i-1].seq {
			m.fail("the outbox is out of order")
		}
		want.push(it)
	}
	for _, c := range m.conns {
		if o == &c.sub.outbox {
			for _, sn := range c.unstarted {
				want.held += sn.held
			}
		}
	}
	if o.answers != want.answers || o.held != want.held || o.rebuilding != want.rebuilding {
		o.items, want.items = nil, nil
		m.fail("the outbox counts %+v, not %+v", *o, want)
	}
}

package store

import (
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
		if (a.Command == nil) != (b.Command == nil) || a.Command != nil && jsonOfPart(a, "") != jsonOfPart(b, "") {
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
func (m *model) compareHead(who string, tm *terminal, got, want string, cut bool, rest string) string {
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
	if !tm.marked[at] || tm.text-left != at {
		m.fail("%s of %s was cut at %d, the preamble is that of %d", who, tm.ch.uri, tm.text-left, at)
	}
	if len(got) > len(want) {
		m.fail("%s of %s: the head is longer than ever", who, tm.ch.uri)
	}
	return got
}

func jsonOf(st *ahp.TerminalState) string { return string(st.AppendJSON(nil, ahp.ShapeExitCode)) }

func jsonOfPart(p ahp.Part, text string) string {
	return jsonOf(&ahp.TerminalState{Content: []ahp.Part{{Command: p.Command, Text: ahp.NewText([]byte(text))}}})
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
			if full := textOf(&mi.of.ref); !strings.HasSuffix(full, preambleRE.ReplaceAllString(mi.text, "")) {
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
	for i, k := range c.marks {
		if k.at > c.end || i > 0 && k.at <= c.marks[i-1].at {
			m.fail("%s: mark %d is at %d, the end at %d", ch.uri, i, k.at, c.end)
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
		if i > 0 && (e.seq <= l.entries[i-1].seq || e.before != l.entries[i-1].before+int64(l.entries[i-1].weight)) {
			m.fail("%s: entry %d does not follow the one before it", ch.uri, i)
		}
	}
	if weight != l.bytes || counted != l.encoded {
		m.fail("%s: the log weighs %d+%d, accounted for are %d+%d", ch.uri, weight, counted, l.bytes, l.encoded)
	}
	// Encodings that are about to be made may pass the bound until the next
	// append or the next pull.
	if l.bytes > modelLog && len(l.entries) > 1 {
		m.fail("%s: the log weighs %d", ch.uri, l.bytes)
	}
	needed := false
	encoders := 0
	for _, k := range ch.links {
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
		if l.index != i || sub.links[l.ch.uri] != l || i > 0 && sub.ready[(i-1)/2].key > l.key {
			m.fail("the ready links are out of order")
		}
	}
	for _, l := range sub.links {
		ch := l.ch
		if !slices.Contains(ch.links, l) {
			m.fail("%s does not know a reader", ch.uri)
		}
		if l.pendingLocked() && l.index == notReady {
			m.fail("a reader of %s was not woken", ch.uri)
		}
	}
	if !slices.IsSortedFunc(sub.own, func(a, b ownItem) int { return int(int64(a.seq) - int64(b.seq)) }) {
		m.fail("the own log is out of order")
	}
}

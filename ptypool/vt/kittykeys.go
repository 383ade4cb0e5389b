package vt

// KittyKeys is whether the terminal on which the program's is shown has kitty's keyboard protocol.
type KittyKeys uint8

const (
	// KeysUnsaid: there is no such terminal. The host itself knows the protocol, and encodes the
	// keys that others than people type.
	KeysUnsaid  KittyKeys = iota
	KeysAsked             // it has been asked, and has not answered
	KeysKnown             // it has it
	KeysLacking           // it does not
)

// keyQuery is what becomes of CSI ? u, by which programs ask for kitty's keyboard protocol. They
// send another query behind it, and conclude from the order of the answers whether there is one: so
// while the terminal is being asked, all answers wait.
type keyQuery struct {
	has  KittyKeys
	held []heldReply
	size int // of the texts in held
}

// heldReply is an answer that waits. flags: it answers CSI ? u.
type heldReply struct {
	text  string
	flags bool
}

// maxHeldReplies bounds what waits, in bytes: more than programs ask when they start.
const maxHeldReplies = 4 << 10

// SetKittyKeys tells whether the program may use kitty's keyboard protocol: CSI ? u is answered
// unless the terminal lacks it. What has waited for that goes to sink.
func (s *Screen) SetKittyKeys(has KittyKeys, sink Sink) {
	q := &s.output.keys
	if q.has = has; has != KeysAsked {
		q.release(sink)
	}
}

// release passes on what has waited.
func (q *keyQuery) release(sink Sink) {
	held := q.held
	q.held, q.size = nil, 0
	for _, r := range held {
		if !r.flags || q.has == KeysKnown || q.has == KeysUnsaid {
			sink.Reply([]byte(r.text))
		}
	}
}

// reply sends an answer to the program.
func (o *output) reply(s string) { o.answer(heldReply{text: s}) }

// replyFlags answers CSI ? u.
func (o *output) replyFlags(s string) { o.answer(heldReply{text: s, flags: true}) }

func (o *output) answer(r heldReply) {
	q := &o.keys
	switch {
	case len(q.held) > 0 || r.flags && q.has == KeysAsked:
		q.held = append(q.held, r)
		if q.size += len(r.text); q.size > maxHeldReplies {
			q.release(o.event())
		}
	case !r.flags || q.has != KeysLacking:
		o.event().Reply([]byte(r.text))
	}
}

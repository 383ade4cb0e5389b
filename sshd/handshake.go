package sshd

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"

	"termhost/authz/admit"
)

// The stages of a startup.
const (
	silent    admit.Stage = iota // nothing that an SSH client sends has come
	named                        // the version line has come (RFC 4253 section 4.2)
	exchanges                    // so have its algorithms: the key exchange is next (section 7)
	answered                     // the host has computed for it: its NEWKEYS is next
	encrypted                    // it has the keys: a packet could be decrypted
	offered                      // it has named a key that would do, and is to prove that it has it
	stages                       // how many there are
)

// handshake is a connection that is watched until it is encrypted: it tells the gate how far the
// peer has come, and has it wait for its turn before the host computes for it. Until the peer's
// NEWKEYS all packets can be read (RFC 4253 section 7.3).
type handshake struct {
	net.Conn
	socket    net.Conn // under Conn
	admission *admit.Admission
	turns     *turns
	stop      <-chan struct{} // closed when the connection ends
	refuse    func()          // ends the connection; it does not wait
	owed      *atomic.Bool    // what has come is being worked on

	// Of whoever reads, which is one goroutine at a time.
	over   bool   // there is nothing more to be watched
	line   bool   // the version line has come
	head   []byte // of the line or the packet that is coming: as much as tells what it is
	missed int    // how many bytes of the packet follow

	mu     sync.Mutex // nothing is locked under it
	inTurn bool
}

// SSH's messages that are watched for (RFC 4253 section 12; RFC 5656 section 7.1).
const (
	msgNewKeys  = 21
	msgKexFirst = 30
	msgKexLast  = 49
)

const (
	// packetHead is a packet's length, the length of its padding, and its first byte.
	packetHead = 4 + 1 + 1
	// maxPacket bounds a packet, in bytes, as x/crypto does.
	maxPacket = 256 << 10
	// versionHead begins the version line. Others may come before it.
	versionHead = "SSH-"
)

// Read reads what the peer sends. After the packet for which the host must compute it returns when
// that is the peer's turn: x/crypto computes on the goroutine that has read the packet, and answers
// before it reads again. If it reads again at once, the packet was a wrong guess (RFC 4253 section
// 7), and the turn is over.
func (h *handshake) Read(p []byte) (int, error) {
	if h.over {
		return h.Conn.Read(p)
	}
	h.endTurn()
	h.owed.Store(false)
	n, err := h.Conn.Read(p)
	h.owed.Store(true)
	acknowledge(h.socket)
	if h.follow(p[:n]) && !h.awaitTurn() {
		h.refuse()
		return 0, errDropped
	}
	if h.over { // nothing is answered to NEWKEYS: the peer is next
		h.owed.Store(false)
	}
	return n, err
}

// Write writes p, which is not kept. An answer ends the peer's turn, and the work for it; the
// host's own algorithms are none.
func (h *handshake) Write(p []byte) (int, error) {
	if len(p) < packetHead || p[packetHead-1] != msgKexInit {
		if h.endTurn() {
			h.admission.Advance(answered)
		}
		h.owed.Store(false)
	}
	return h.Conn.Write(p)
}

// Close closes the connection.
func (h *handshake) Close() error {
	h.endTurn()
	return h.Conn.Close()
}

// follow watches what has come, and reports whether the host must compute now.
func (h *handshake) follow(b []byte) (compute bool) {
	for len(b) > 0 && !h.over {
		switch {
		case !h.line:
			b = h.followLine(b)
		case h.missed > 0:
			n := min(h.missed, len(b))
			if h.missed, b = h.missed-n, b[n:]; h.missed == 0 {
				compute = h.packet() || compute
			}
		default:
			n := min(packetHead-len(h.head), len(b))
			h.head, b = append(h.head, b[:n]...), b[n:]
			if len(h.head) == packetHead {
				h.begin()
			}
		}
	}
	return compute
}

// followLine watches for the version line, and returns what is after the line that b belongs to.
func (h *handshake) followLine(b []byte) (rest []byte) {
	n := min(len(versionHead)-len(h.head), len(b))
	h.head = append(h.head, b[:n]...)
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return nil
	}
	if h.line = string(h.head) == versionHead; h.line {
		h.admission.Advance(named)
	}
	h.head = h.head[:0]
	return b[end+1:]
}

// begin looks at a packet's beginning. What x/crypto will refuse is not watched further.
func (h *handshake) begin() {
	const known = packetHead - 4 // of what the length counts
	length := binary.BigEndian.Uint32(h.head)
	if length <= known || length > maxPacket {
		h.over = true
		return
	}
	h.missed = int(length) - known
}

// packet looks at a packet that has come whole, and reports whether the host must compute for it.
func (h *handshake) packet() (compute bool) {
	kind := h.head[packetHead-1]
	h.head = h.head[:0]
	switch {
	case kind == msgKexInit:
		h.admission.Advance(exchanges)
	case kind == msgNewKeys:
		h.over = true
	case kind >= msgKexFirst && kind <= msgKexLast:
		return true
	}
	return false
}

// awaitTurn waits for the peer's turn, and reports whether it has come. A peer that has gone
// meanwhile has none: so those who have the patience come to theirs sooner.
func (h *handshake) awaitTurn() bool {
	h.admission.Wait(true)
	got := h.turns.take(h.admission.Source(), h.stop)
	if got && hungUp(h.socket) {
		h.turns.giveBack()
		got = false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inTurn = got
	return got
}

// endTurn gives the turn back, if it is the peer's, and reports whether it was.
func (h *handshake) endTurn() (was bool) {
	h.mu.Lock()
	was = h.inTurn
	h.inTurn = false
	h.mu.Unlock()
	if was {
		h.turns.giveBack()
		h.admission.Wait(false)
	}
	return was
}

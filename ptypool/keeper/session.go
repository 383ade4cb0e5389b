package keeper

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// session is a connected host.
type session struct {
	s    *server
	conn *conn
	pid  int // the host's
}

// run handles the host's requests, one at a time, until the connection ends, and returns the error
// that ended it.
func (h *session) run() error {
	for {
		m, err := h.conn.receive()
		if err == nil {
			err = h.handle(&m)
		}
		closeFiles(m.files)
		if err != nil {
			return err
		}
	}
}

// handle handles one request. It removes the descriptors that it keeps from m. Its error is one of
// the connection.
func (h *session) handle(m *message) error {
	if m.late() {
		return h.refuse(m, errLate)
	}
	switch m.Op {
	case opCheck:
		return h.answer(m, message{})
	case opList:
		return h.list(m)
	case opStart:
		return h.start(m)
	case opTake:
		return h.take(m)
	case opAdopt:
		return h.adopt(m)
	case opClose:
		if t := h.s.find(m.ID); t != nil && m.Name != "" {
			t.close(m.Name)
		}
		return nil
	case opForget:
		h.s.forget(m.ID)
		return nil
	case opStop:
		defer h.s.end()
		return h.answer(m, message{})
	default:
		return h.refuse(m, fmt.Errorf("keeper: operation %q is unknown", m.Op))
	}
}

// answer answers a request.
func (h *session) answer(request *message, a message) error {
	a.Op, a.Seq = opAnswer, request.Seq
	return h.conn.send(a)
}

// refuse answers a request with an error.
func (h *session) refuse(request *message, why error) error {
	a := message{Error: why.Error()}
	errors.As(why, &a.Errno)
	return h.answer(request, a)
}

// list answers with all terminals.
func (h *session) list(m *message) error {
	for terms := range slices.Chunk(h.s.list(), pageTerms) {
		if err := h.answer(m, message{Terms: terms, More: true}); err != nil {
			return err
		}
	}
	return h.answer(m, message{})
}

// start starts a program. Its end is reported to the host after the answer.
func (h *session) start(m *message) error {
	if len(m.files) == 0 || m.files[0].name != fdProgram {
		return h.refuse(m, unix.EINVAL)
	}
	p, err := readProgram(m.files[0].fd)
	if err == nil && h.s.find(p.ID) != nil {
		err = fmt.Errorf("keeper: there is a terminal %q already", p.ID)
	}
	if err != nil {
		return h.refuse(m, err)
	}
	pid, waitfd, files, err := start(p, h.s.cfg.Groups)
	if err != nil {
		return h.refuse(m, err)
	}
	t := newKept(p, pid, slices.Concat(files, m.files[1:]))
	m.files = m.files[:1]
	h.s.add(t)
	defer func() { go h.s.watch(t, waitfd) }() // ends with the program
	return h.answer(m, message{Terms: []Info{t.info()}, files: files})
}

// take passes a terminal to the host, which reads its output from then on.
func (h *session) take(m *message) error {
	t := h.s.find(m.ID)
	if t == nil {
		return h.refuse(m, fmt.Errorf("keeper: there is no terminal %q", m.ID))
	}
	t.stopDraining()
	return t.give(h.conn, message{Op: opAnswer, Seq: m.Seq})
}

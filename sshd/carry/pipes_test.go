package carry_test

import (
	"bytes"
	"io"
	"strings"
	"syscall"

	"termhost/sshd/viewertest"
)

// pipes are a peer without a terminal.
type pipes struct {
	viewertest.Peer
	out, errs bytes.Buffer
	signals   chan syscall.Signal
}

func newPipes(in string) *pipes {
	p := &pipes{signals: make(chan syscall.Signal, 1)}
	p.In, p.Out, p.Err = io.Reader(strings.NewReader(in)), &p.out, &p.errs
	return p
}

func (p *pipes) Signals() <-chan syscall.Signal { return p.signals }

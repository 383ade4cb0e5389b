package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// printer is a terminal whose program prints what a test says, and asks nobody for anything.
type printer struct {
	t      *testing.T
	h      *host.Host
	term   *host.Terminal
	to     *os.File
	pieces int
}

// newPrinter makes a printer for p. Once it ends, what follows runs in its terminal.
func newPrinter(t *testing.T, h *host.Host, p authz.Principal, name, then string) *printer {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	hosttest.Check(t, syscall.Mkfifo(fifo, 0o600))
	term := run(t, h, p, name, "stty -echo -opost; cat <'"+fifo+"'; "+then)
	to, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns when the program reads
	hosttest.Check(t, err)
	t.Cleanup(func() { to.Close() })
	return &printer{t: t, h: h, term: term, to: to}
}

// prints prints text, and returns when all that comes of it has happened.
func (p *printer) prints(text string) {
	p.t.Helper()
	p.pieces++
	end := fmt.Sprintf("<end of piece %d>", p.pieces)
	_, err := p.to.WriteString(text + end)
	hosttest.Check(p.t, err)
	awaitOutput(p.t, p.h, p.term, end)
}

// ends ends the printing.
func (p *printer) ends() { hosttest.Check(p.t, p.to.Close()) }

// rings rings the bell, some time after it was rung last.
func (p *printer) rings(clock *laterClock) {
	p.t.Helper()
	clock.advance(2 * bellEvery)
	p.prints("\a")
}

// takes tells of a command that takes so long and ends with code.
func (p *printer) takes(clock *laterClock, d time.Duration, code int) {
	p.t.Helper()
	p.prints("\x1b]633;A\x07\x1b]633;C\x07")
	clock.advance(d)
	p.prints(fmt.Sprintf("\x1b]633;D;%d\x07", code))
}

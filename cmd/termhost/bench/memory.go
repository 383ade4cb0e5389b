package bench

import (
	"errors"
	"math"
	"os"
	"time"
)

// memory measures what the server's processes take of the machine's memory, without the programs
// that run in its terminals.
func (how effort) memory() measurement {
	title := "Memory (PSS)"
	if os.Getuid() != 0 {
		title = "Memory (PSS, or RSS, which is more, of processes that root alone may look into)"
	}
	m := measurement{fresh: true, Table: Table{Name: "memory", Title: title,
		Figures: []Figure{
			{Name: "the server, before anybody comes", Unit: "KiB"},
			{Name: "an idle terminal that nobody views", Unit: "KiB"},
			{Name: "an idle WebSocket", Unit: "KiB"},
			{Name: "an idle viewer", Unit: "KiB"},
		}}}
	m.prepare = func(r *Rival) (*probe, error) {
		before := r.processes()
		return &probe{func() ([]float64, error) {
			idle := &idle{r: r, n: how.idle}
			defer r.settle(before)
			defer idle.close()
			values := []float64{r.memory()}
			for _, open := range []func() error{idle.terminal, idle.socket, idle.viewer} {
				kib, err := idle.each(open)
				if err != nil {
					return nil, err
				}
				values = append(values, kib)
			}
			return values, nil
		}, func() {}}, nil
	}
	return m
}

// idle are the terminals and connections of a server on which nothing happens. All of them stay
// until the end: a server uses freed memory again, and would take no more for the next.
type idle struct {
	r    *Rival
	n    int // how many of a kind
	open []func()
	kept *kept // the last terminal; nil: the server has none without viewers
}

func (i *idle) close() {
	for _, end := range i.open {
		end()
	}
}

// settle waits until the server has no more processes than n: those of connections that have ended
// would count for another server that the same sshd is used by.
func (r *Rival) settle(n int) {
	for deadline := time.Now().Add(patience); r.processes() > n && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
}

// each returns what one of several things takes that open opens, in KiB; NaN: the server has
// nothing like that. The first one may cost more than the others, and is not counted.
func (i *idle) each(open func() error) (float64, error) {
	var before float64
	for k := range i.n + 1 {
		if k == 1 {
			before = i.r.memory()
		}
		switch err := open(); {
		case errors.Is(err, errors.ErrUnsupported):
			return math.NaN(), nil
		case err != nil:
			return 0, err
		}
	}
	// A server that shares libraries with the programs that it starts may take less than before.
	return max(0, i.r.memory()-before) / float64(i.n), nil
}

// idleProgram does nothing.
func idleProgram() program { return program{run: "exec sleep 1000"} }

func (i *idle) terminal() error {
	k, err := i.r.keep(idleProgram())
	if err != nil {
		return err
	}
	i.kept, i.open = k, append(i.open, k.Close)
	return nil
}

func (i *idle) socket() error {
	if i.r.socket == nil {
		return errors.ErrUnsupported
	}
	end, err := i.r.socket()
	if err != nil {
		return err
	}
	i.open = append(i.open, end)
	return nil
}

// viewer opens one of several viewers of the same terminal; where each terminal has one viewer, a
// terminal with it.
func (i *idle) viewer() error {
	view := func() (*Session, error) { return i.r.Open(idleProgram()) }
	if i.kept != nil {
		view = i.kept.attach
	}
	s, err := view()
	if err != nil {
		return err
	}
	i.open = append(i.open, s.Close)
	return nil
}

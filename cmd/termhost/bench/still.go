package bench

import (
	"errors"
	"fmt"
	"time"
)

// still is a server on which nothing happens.
type still struct {
	terminals, viewers int
	settle, lasts      time.Duration // until it is measured, and for how long
}

// question is what every fifth of its terminals asks. The others have nothing to do.
const question = `printf "Overwrite? [y/N] "; read x`

// idling measures what such a server does. One round is enough: it is long.
func (how effort) idling() measurement {
	s := how.still
	m := measurement{rounds: 1, fresh: true, Table: Table{Name: "idle",
		Title: fmt.Sprintf("Nothing happens in %d terminals, of which %d wait for input, "+
			"with %d viewers", s.terminals, s.terminals/5, s.viewers),
		Figures: []Figure{
			{Name: "the server's CPU, of one core", Unit: "%"},
			{Name: "its context switches a second", Unit: "switches"},
		}}}
	m.prepare = func(r *Rival) (*probe, error) {
		if r.keeping == nil {
			return nil, errors.ErrUnsupported
		}
		before := r.processes()
		return &probe{func() ([]float64, error) {
			defer r.settle(before)
			return s.sample(r)
		}, func() {}}, nil
	}
	return m
}

func (s still) sample(r *Rival) ([]float64, error) {
	terminals := make([]*kept, 0, s.terminals)
	defer func() {
		for _, k := range terminals {
			k.Close()
		}
	}()
	for i := range s.terminals {
		p := idleProgram()
		if i%5 == 0 {
			p = program{run: question}
		}
		k, err := r.keep(p)
		if err != nil {
			return nil, err
		}
		terminals = append(terminals, k)
	}
	viewers := make([]*Session, 0, s.viewers)
	defer func() { closeAll(viewers) }()
	for i := range s.viewers {
		v, err := terminals[i*s.terminals/s.viewers].attach()
		if err != nil {
			return nil, err
		}
		viewers = append(viewers, v)
	}
	time.Sleep(s.settle)
	began, before, switches := time.Now(), r.ran(), r.usage().switches
	time.Sleep(s.lasts)
	took := time.Since(began).Seconds()
	return []float64{
		100 * (r.ran() - before).Seconds() / took, (r.usage().switches - switches) / took,
	}, nil
}

package bench

import (
	"errors"
	"math"
	"time"
)

// Create logs in and runs a program; it returns how long it took until the first output.
func (r *Rival) Create() (time.Duration, error) {
	start := time.Now()
	s, err := r.Open(program{run: "read x"})
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	s.Close()
	return took, nil
}

// login measures the time from dialling to the first output: of a new program, and of one that
// runs already, which has printed nothing or some text.
func (how effort) login(history text) measurement {
	m := measurement{Table: Table{Name: "login", Title: "From dialling to the first output",
		Figures: []Figure{
			{Name: "of a new program", Unit: "ms"},
			{Name: "of a terminal that is there", Unit: "ms"},
			{Name: "of one with 1 MiB of scrollback", Unit: "ms"},
		}}}
	m.prepare = func(r *Rival) (*probe, error) {
		var kepts []*kept
		end := func() {
			for _, k := range kepts {
				k.Close()
			}
		}
		keep := func(p program) (attach func() (time.Duration, error), err error) {
			k, err := r.keep(p)
			if err != nil {
				return nil, err
			}
			kepts = append(kepts, k)
			return k.attachTime, nil
		}
		empty, err := keep(programEcho())
		if errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		var full func() (time.Duration, error)
		if err == nil && empty != nil && r.keeping.scrolls {
			full, err = keep(program{history.print + "; stty raw -echo;", "exec cat"})
		}
		if err != nil {
			end()
			return nil, err
		}
		return &probe{func() (values []float64, err error) {
			for _, do := range []func() (time.Duration, error){r.Create, empty, full} {
				took, err := how.loginTime(do)
				if err != nil {
					return nil, err
				}
				values = append(values, took)
			}
			return values, nil
		}, end}, nil
	}
	return m
}

// loginTime returns the median of what logins take, in milliseconds; NaN: do is nil.
func (how effort) loginTime(do func() (time.Duration, error)) (float64, error) {
	if do == nil {
		return math.NaN(), nil
	}
	var times []time.Duration
	for range how.logins {
		took, err := do()
		if err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	return Percentile(times, 50).Seconds() * 1e3, nil
}

// attachTime returns how long it takes to log in and see the screen of a terminal that runs
// [programEcho].
func (k *kept) attachTime() (time.Duration, error) {
	start := time.Now()
	s, err := k.view(k.r.keeping.attach(k.name), window{}, k.r.keeping.redraws)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	s.Close()
	return took, nil
}

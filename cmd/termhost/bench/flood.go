package bench

import "time"

// Flood prints a file to one viewer. It returns how long that took, and the seconds of the server's
// CPU.
func (r *Rival) Flood(file string) (took time.Duration, cpu float64, err error) {
	took, used, err := r.flood(text{print: "cat " + file})
	return took, used.seconds, err
}

// flood prints text to one viewer.
func (r *Rival) flood(t text) (took time.Duration, used usage, err error) {
	// A program that lives on for a moment keeps the processes of its session, whose time counts.
	s, err := r.Open(program{run: "read x; " + t.print + `; printf "the-%s" end; sleep 0.3`})
	if err != nil {
		return 0, used, err
	}
	defer s.Close()
	before := r.usage()
	err = within(s, func() error {
		start := time.Now()
		if _, err := s.In.Write([]byte{'\r'}); err != nil {
			return err
		}
		if err := await(s.Out, "the-end"); err != nil {
			return err
		}
		took = time.Since(start)
		after := r.usage()
		used = usage{after.seconds - before.seconds, after.switches - before.switches,
			after.calls - before.calls}
		return nil
	})
	return took, used, err
}

// flooding measures that.
func flooding(t text) measurement {
	m := measurement{Table: Table{Name: "flood", Title: "`cat` of coloured text to one viewer",
		Figures: []Figure{
			{Name: "speed", Unit: "MB/s", More: true},
			{Name: "the server's CPU for 200 MB", Unit: "s"},
			{Name: "its context switches for a MB", Unit: "switches"},
			{Name: "its reads and writes for a MB", Unit: "calls"},
		}}}
	m.prepare = func(r *Rival) (*probe, error) {
		mb := float64(t.size) / 1e6
		return &probe{func() ([]float64, error) {
			took, used, err := r.flood(t)
			return []float64{
				mb / took.Seconds(), used.seconds * 200 / mb, used.switches / mb, used.calls / mb,
			}, err
		}, func() {}}, nil
	}
	return m
}

package bench

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"
)

// kernelEcho has the terminal echo keys one by one, and reads them; programEcho writes back
// itself what it reads, as editors and shells do.
func kernelEcho() program  { return program{"stty -icanon;", "exec cat >/dev/null"} }
func programEcho() program { return program{"stty raw -echo;", "exec cat"} }

// OpenEcho returns a session for [Session.Echo].
func (r *Rival) OpenEcho() (*Session, error) { return r.Open(kernelEcho()) }

// echoKeys are what is typed in turn: characters that no escape sequence ends with.
const echoKeys = "xzqvwy&^"

// Echo types a key and waits for its echo, the i-th time.
func (s *Session) Echo(i int) (time.Duration, error) {
	start := time.Now()
	if _, err := s.In.Write([]byte{keyOf(i)}); err != nil {
		return 0, err
	}
	err := s.awaitKey(i)
	return time.Since(start), err
}

func keyOf(i int) byte { return echoKeys[i%len(echoKeys)] }

// awaitKey reads until the i-th key has come.
func (s *Session) awaitKey(i int) error {
	var buf [4096]byte
	for {
		n, err := s.Out.Read(buf[:])
		if err != nil {
			return err
		}
		if bytes.IndexByte(buf[:n], keyOf(i)) >= 0 {
			return nil
		}
	}
}

// Percentile returns a percentile of durations, which are sorted.
func Percentile(list []time.Duration, percent int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)*percent/100]
}

// echoes types keys into a session and returns p50 and p99 of their echo, in microseconds, and how
// many were typed.
func (how effort) echoes(s *Session) (p50, p99 float64, keys int, err error) {
	times, err := (&room{typist: s}).echoes(how.keys, how.keysFor, 0)
	us := func(percent int) float64 { return Percentile(times, percent).Seconds() * 1e6 }
	return us(50), us(99), len(times), err
}

// echo measures the echo of keys, alone and while a terminal next to it prints text.
func (how effort) echo(flood text) measurement {
	m := measurement{Table: Table{Name: "echo", Title: "Echo of a key"}}
	for _, beside := range []string{"", " beside a flood"} {
		for _, by := range []string{"the kernel's", "a program's"} {
			m.Figures = append(m.Figures,
				Figure{Name: by + beside + ", p50", Unit: "µs"},
				Figure{Name: by + beside + ", p99", Unit: "µs"})
		}
	}
	m.prepare = func(r *Rival) (*probe, error) {
		kernel, err := r.OpenEcho()
		if err != nil {
			return nil, err
		}
		program, err := r.Open(programEcho())
		if err != nil {
			kernel.Close()
			return nil, err
		}
		list := []*Session{kernel, program}
		both := func() (values []float64, err error) {
			for _, s := range list {
				p50, p99, _, err := how.echoes(s)
				if err != nil {
					return nil, err
				}
				values = append(values, p50, p99)
			}
			return values, nil
		}
		sample := func() ([]float64, error) {
			quiet, err := both()
			if err != nil {
				return nil, err
			}
			stop, err := r.floodOn(flood)
			if err != nil {
				return nil, err
			}
			defer stop()
			loud, err := both()
			return append(quiet, loud...), err
		}
		return &probe{sample, func() { closeAll(list) }}, nil
	}
	return m
}

// floodOn prints text to a viewer again and again, until it is stopped.
func (r *Rival) floodOn(flood text) (stop func(), err error) {
	// It waits for Enter: who draws the screen would not show that the program is ready.
	s, err := r.Open(program{run: "read x; while :; do " + flood.print + "; done"})
	if err != nil {
		return nil, err
	}
	_, err = s.In.Write([]byte{'\r'})
	if err == nil {
		err = within(s, func() error {
			_, err := io.CopyN(io.Discard, s.Out, underWay)
			return err
		})
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return drain(s), nil
}

// underWay is how much of a flood has come, in bytes, when it is one. Who draws the screen now and
// then sends little.
const underWay = 128 << 10

// drain reads what a session prints until it is stopped, which closes the session.
func drain(s *Session) (stop func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, s.Out) // it ends when the session is closed
	}()
	return func() {
		s.Close()
		<-ended
	}
}

// drawn measures the echo as somebody sees it who looks on in a smaller window, for which the
// server has to draw.
func (how effort) drawn() measurement {
	m := measurement{Table: Table{
		Name: "drawn", Title: "Echo in a smaller window of another viewer",
		Figures: []Figure{
			{Name: "p50", Unit: "µs"}, {Name: "p99", Unit: "µs"}, {Name: "bytes a key", Unit: "B"},
		}}}
	m.prepare = func(r *Rival) (*probe, error) {
		if r.keeping == nil || r.keeping.watch == nil {
			return nil, errors.ErrUnsupported
		}
		k, err := r.keep(kernelEcho())
		if err != nil {
			return nil, err
		}
		typist, err := k.attach()
		if err != nil {
			k.Close()
			return nil, err
		}
		stop := drain(typist)
		end := func() { stop(); k.Close() }
		watcher, err := k.view(r.keeping.watch(k.name), window{60, 20}, r.keeping.shows)
		if err != nil {
			end()
			return nil, err
		}
		out := &counted{Reader: watcher.Out}
		s := &Session{In: typist.In, Out: out, end: watcher.end}
		sample := func() ([]float64, error) {
			out.n = 0
			p50, p99, keys, err := how.echoes(s)
			return []float64{p50, p99, float64(out.n) / float64(max(1, keys))}, err
		}
		return &probe{sample, func() { s.Close(); end() }}, nil
	}
	return m
}

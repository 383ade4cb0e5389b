package bench

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// fanOut measures how fast a file is printed to viewers of one terminal that all read it: the time
// until the last of them has seen its end.
func fanOut(viewers int, file string) measurement {
	title := fmt.Sprintf("`cat` of coloured text to %d viewers of one terminal", viewers)
	if viewers == 1 {
		title = "`cat` of coloured text to a viewer of a terminal that was there before"
	}
	m := measurement{Table: Table{Name: fmt.Sprintf("fan-out-%d", viewers), Title: title,
		Figures: []Figure{
			{Name: "speed", Unit: "MB/s", More: true},
			{Name: "speed beside another viewer that stalls", Unit: "MB/s", More: true},
			{Name: "of the file's bytes, what a viewer gets at least", Unit: "%", More: true},
		}}}
	m.prepare = func(r *Rival) (*probe, error) {
		size, err := fileSize(file)
		if err != nil {
			return nil, err
		}
		// Whoever types a word and a 1 gets the file, and then the word. What those wait for who
		// attach is behind it.
		k, err := r.keep(program{"stty -echo;", `while read word file; do ` +
			`test -z "$file" || cat ` + file + `; printf "%srea%s" "$word" dy; done`})
		if err != nil {
			return nil, err
		}
		list, err := several(viewers, k.attach)
		if err != nil {
			k.Close()
			return nil, err
		}
		a := &audience{typist: list[0].In}
		for _, s := range list {
			a.viewers = append(a.viewers, viewer{s, &counted{Reader: s.Out}})
		}
		sample := func() ([]float64, error) {
			took, least, err := a.print()
			if err != nil {
				return nil, err
			}
			stalled, err := k.attach()
			if err != nil {
				return nil, err
			}
			defer stalled.Close()
			stalled.stall()
			beside, _, err := a.print()
			return []float64{size / 1e6 / took.Seconds(), size / 1e6 / beside.Seconds(),
				100 * float64(least) / size}, err
		}
		return &probe{sample, func() { closeAll(list); k.Close() }}, nil
	}
	return m
}

// audience are the viewers of a terminal.
type audience struct {
	typist  io.Writer
	viewers []viewer
	printed int // how often
}

type viewer struct {
	*Session
	out *counted
}

// print has the file printed. It returns how long that took, and what the viewer with the fewest
// bytes got.
func (a *audience) print() (took time.Duration, least int, err error) {
	// Of one character, and another one than before, so that a server that draws changes draws all
	// of it.
	word := strings.Repeat(string(rune('A'+a.printed%26)), 5)
	a.printed++
	start := time.Now()
	if _, err := fmt.Fprintf(a.typist, "\r%s 1\r", word); err != nil {
		return 0, 0, err
	}
	errs := make([]error, len(a.viewers))
	seen := make(chan struct{}) // the word, by one of them
	var once sync.Once
	var all sync.WaitGroup
	for i, v := range a.viewers {
		v.out.n = 0
		all.Go(func() {
			errs[i] = within(v.Session, func() error { return await(v.out, word) })
			once.Do(func() { close(seen) })
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	a.remind(word, seen, ended)
	took = time.Since(start)
	least = a.viewers[0].out.n
	for _, v := range a.viewers {
		least = min(least, v.out.n)
	}
	return took, least, errors.Join(errs...)
}

// remind has the word printed again and again when a viewer has seen it, until all have: dtach
// drops what a viewer does not take at once.
func (a *audience) remind(word string, seen, ended <-chan struct{}) {
	select {
	case <-seen:
	case <-time.After(patience / 4): // all of them have lost it
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			_, _ = fmt.Fprintf(a.typist, "%s\r", word) // the viewers see that the server is gone
		}
	}
}

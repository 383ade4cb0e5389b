package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// Elsewhere is a host that is measured from here, as `termhost attach --ssh` reaches it.
type Elsewhere struct {
	Name string // what leads there
	Dial func(context.Context) (*ssh.Client, error)
}

// RunElsewhere measures a host elsewhere: what of [Run] can be seen from here, and how long the way
// there and back takes. It ends the terminals that it opens. When ctx ends, it returns ctx's cause.
func RunElsewhere(ctx context.Context, e Elsewhere, o Options) (*Report, error) {
	w := &world{e: e, prefix: fmt.Sprintf("bench-%d-", rand.N(1_000_000))}
	c, err := e.Dial(ctx)
	if err != nil {
		return nil, err
	}
	c.Close()
	report := &Report{Caution: "The host is reached by your own ssh, and its terminals by SSH on " +
		"that connection, as of `termhost attach --ssh`. The way there and back is part of each " +
		"echo and of each first output."}
	return o.run(ctx, "", report, func(how effort, _ string) ([]measurement, error) {
		flood := floodLines(how.flood)
		list := []measurement{
			how.trip(), how.echo(flood), speed(flood), how.login(floodLines(historySize)),
		}
		for i := range list {
			list[i].start = w.start
		}
		return list, nil
	})
}

// world is where a host elsewhere is measured from.
type world struct {
	e      Elsewhere
	prefix string

	mu      sync.Mutex
	clients []*ssh.Client // that were dialled in this measurement
}

// start returns the host as the only server.
func (w *world) start(_, dir string) (*Rivals, error) {
	r := &Rival{Name: w.e.Name, prefix: w.prefix}
	r.Dial = func() (*ssh.Client, error) {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		c, err := w.e.Dial(ctx)
		if err == nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.clients = append(w.clients, c)
		}
		return c, err
	}
	r.open = func(line string) (*Session, error) {
		name := r.newName()
		s, err := r.startSSH("new -n "+name+" -- "+line, window{})
		if err != nil {
			return nil, err
		}
		end := s.end
		s.end = func() { end(); r.remove(name) }
		return s, nil
	}
	r.keeping = hostKeeping()
	return &Rivals{List: []*Rival{r}, dir: dir, ends: []func(){w.close}}, nil
}

// close ends all connections.
func (w *world) close() {
	w.mu.Lock()
	clients := w.clients
	w.clients = nil
	w.mu.Unlock()
	for _, c := range clients {
		c.Close()
	}
}

// remove ends a terminal of a host elsewhere.
func (r *Rival) remove(name string) { _, _ = r.run("rm " + name) } // it may have ended

// trip measures how long the way to the host and back takes, without any terminal.
func (how effort) trip() measurement {
	m := measurement{Table: Table{Name: "trip", Title: "The way there and back", Figures: []Figure{
		{Name: "p50", Unit: "µs"}, {Name: "p99", Unit: "µs"},
	}}}
	m.prepare = func(r *Rival) (*probe, error) {
		c, err := r.Dial()
		if err != nil {
			return nil, err
		}
		return &probe{func() ([]float64, error) {
			var times []time.Duration
			end := time.Now().Add(how.keysFor)
			for len(times) < how.keys && time.Now().Before(end) {
				start := time.Now()
				// It is answered whatever it says.
				if _, _, err := c.SendRequest("keepalive@openssh.com", true, nil); err != nil {
					return nil, err
				}
				times = append(times, time.Since(start))
			}
			us := func(percent int) float64 { return Percentile(times, percent).Seconds() * 1e6 }
			return []float64{us(50), us(99)}, nil
		}, func() { c.Close() }}, nil
	}
	return m
}

// speed is what can be seen of [flooding] from elsewhere.
func speed(t text) measurement {
	m := flooding(t)
	whole := m.prepare
	m.Title, m.Figures = "Coloured text to one viewer", m.Figures[:1]
	m.prepare = func(r *Rival) (*probe, error) {
		p, err := whole(r)
		if err != nil {
			return nil, err
		}
		sample := p.sample
		p.sample = func() ([]float64, error) {
			values, err := sample()
			return values[:1], err
		}
		return p, nil
	}
	return m
}

//go:build linux && !laptop

package bench

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"time"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
)

// observer is a member of the fleet that is this process.
const observer = "observer"

// addObserver makes its configuration.
func (rs *Rivals) addObserver() error {
	if err := os.Mkdir(rs.in(observer), 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf("state_dir = %q\n", rs.in(observer+"/state"))
	return os.WriteFile(filepath.Join(rs.in(observer), "config.toml"), []byte(text), 0o600)
}

// hop is a link to the fleet's server, as a box has it.
type hop struct {
	link bus.Link
	back chan struct{} // something has come back
}

// observe connects this process to the fleet's server.
func (rs *Rivals) observe() (*hop, error) {
	folder := roster.In(rs.in(observer + "/state"))
	m, err := folder.Membership()
	if err != nil {
		return nil, err
	}
	o := natslink.Options{Name: m.Name, Servers: m.Servers, Once: true,
		Log: slog.New(slog.DiscardHandler)}
	if o.Key, err = folder.Key(); err != nil {
		return nil, err
	}
	if o.TLS, err = roster.ClientTLS(m.Authority); err != nil {
		return nil, err
	}
	h := &hop{back: make(chan struct{}, 1)}
	h.link, err = natslink.Connect(o)(bus.Receiver{
		Receive:   func(string, bool, []byte) { h.back <- struct{}{} },
		Connected: func() {},
	})
	if err == nil {
		rs.ends = append(rs.ends, func() { h.link.Close() })
	}
	return h, err
}

// echo sends the server a message for this process itself, as large as that of a key, and returns
// when it has come. On its way it passes what a message to a box and the answer pass.
func (h *hop) echo() (time.Duration, error) {
	const size = 100 // bytes
	start := time.Now()
	if err := h.link.Send(observer, bus.Bytes, make([]byte, size)); err != nil {
		return 0, err
	}
	select {
	case <-h.back:
		return time.Since(start), nil
	case <-time.After(patience):
		return 0, errors.New("the fleet's server passes nothing on")
	}
}

// beyond measures a hop, and a third host beside a flood through the same door. A server that is no
// door has neither.
func (how effort) beyond(flood text) measurement {
	m := measurement{Table: Table{Figures: []Figure{
		{Name: "a hop: a message to NATS and back, p50", Unit: "µs"},
		{Name: "the kernel's on a third host beside a flood, p50", Unit: "µs"},
		{Name: "the kernel's on a third host beside a flood, p99", Unit: "µs"},
	}}}
	m.prepare = func(r *Rival) (*probe, error) {
		if r.fleet == nil {
			none := []float64{math.NaN(), math.NaN(), math.NaN()}
			return &probe{func() ([]float64, error) { return none, nil }, func() {}}, nil
		}
		s, err := r.fleet.third.OpenEcho()
		if err != nil {
			return nil, err
		}
		sample := func() ([]float64, error) {
			var hops []time.Duration
			for range how.keys {
				took, err := r.fleet.hop()
				if err != nil {
					return nil, err
				}
				hops = append(hops, took)
			}
			stop, err := r.floodOn(flood)
			if err != nil {
				return nil, err
			}
			defer stop()
			p50, p99, _, err := how.echoes(s)
			return []float64{Percentile(hops, 50).Seconds() * 1e6, p50, p99}, err
		}
		return &probe{sample, s.Close}, nil
	}
	return m
}

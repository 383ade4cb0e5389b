package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Options are what to measure, and how.
type Options struct {
	Quick bool // in less than two minutes
	// Only has the names of the measurements to make, or what is before a dash in them; empty: all.
	Only     []string
	Progress Progress
}

// run makes the measurements of a list, with a folder for files of their own, and adds them to the
// report.
func (o Options) run(ctx context.Context, program string, report *Report,
	measurements func(how effort, dir string) ([]measurement, error)) (*Report, error) {
	dir, err := os.MkdirTemp("", "termhost-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	how := thorough()
	if o.Quick {
		how = quick()
	}
	list, err := measurements(how, dir)
	if err != nil {
		return nil, err
	}
	if list, err = only(list, o.Only); err != nil {
		return nil, err
	}
	r := &runner{ctx: ctx, program: program, dir: dir, rounds: how.rounds, report: report}
	r.report.Machine = machine(how.rounds)
	defer o.Progress.ends()
	for i, m := range list {
		o.Progress.begins(i+1, len(list), m.Table)
		r.says = func(detail string) { o.Progress.says(i+1, len(list), m.Table, detail) }
		if err := r.measure(m); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

// UnknownError refuses a measurement that does not exist.
type UnknownError struct {
	Name  string
	Known []string // those that do
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no measurement %q; there are %s", e.Name,
		strings.Join(e.Known, ", "))
}

// only returns the measurements that are asked for.
func only(list []measurement, asked []string) ([]measurement, error) {
	if len(asked) == 0 {
		return list, nil
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	matches := func(name, ask string) bool { return strings.HasPrefix(name+"-", ask+"-") }
	for _, ask := range asked {
		if !slices.ContainsFunc(names, func(name string) bool { return matches(name, ask) }) {
			return nil, &UnknownError{ask, names}
		}
	}
	return slices.DeleteFunc(list, func(m measurement) bool {
		return !slices.ContainsFunc(asked, func(ask string) bool { return matches(m.Name, ask) })
	}), nil
}

// machine describes this machine.
func machine(rounds int) string {
	var u unix.Utsname
	system := runtime.GOOS
	if unix.Uname(&u) == nil {
		system = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
	}
	return fmt.Sprintf("%d CPUs, %s, %d rounds", runtime.NumCPU(), system, rounds)
}

// runner measures in rounds, in each of which every server has its turn: what else the machine
// does meanwhile touches all of them alike.
type runner struct {
	ctx     context.Context
	program string
	dir     string
	rounds  int
	report  *Report
	says    func(detail string)
}

// measure makes a measurement, whose table is added to the report.
func (r *runner) measure(m measurement) error {
	if m.rounds == 0 {
		m.rounds = r.rounds
	}
	v := &survey{runner: r, measurement: m, out: map[string]bool{}}
	rounds := m.rounds
	if m.fresh {
		rounds = 1
	}
	for v.round < m.rounds {
		if err := v.measure(rounds); err != nil {
			return err
		}
	}
	r.report.Tables = append(r.report.Tables, v.Table)
	return nil
}

// survey is a measurement that is under way.
type survey struct {
	*runner
	measurement
	round int
	out   map[string]bool // the servers that take no part, or no longer
}

// measure starts the servers and makes some rounds.
func (v *survey) measure(rounds int) error {
	v.says("starts the servers")
	dir, err := os.MkdirTemp(v.dir, "")
	if err != nil {
		return err
	}
	start := v.start
	if start == nil {
		start = StartRivals
	}
	rs, err := start(v.program, dir)
	if err != nil {
		return err
	}
	defer rs.Close() // again: what was under way may have started something
	// Whatever waits for a server fails when it has ended.
	stop := context.AfterFunc(v.ctx, rs.Close)
	defer stop()
	v.knows(rs)
	probes := map[*Rival]*probe{}
	defer func() {
		for _, p := range probes {
			p.close()
		}
	}()
	for _, s := range rs.List {
		v.says(s.Name + " is made ready")
		p, err := v.prepare(s)
		if err == nil {
			probes[s] = p
		} else {
			v.leaves(s, err)
		}
	}
	for range rounds {
		for _, s := range rs.List {
			if v.out[s.Name] {
				continue
			}
			v.says(fmt.Sprintf("round %d of %d, %s", v.round+1, v.measurement.rounds, s.Name))
			if values, err := probes[s].sample(); err == nil {
				v.add(s.Name, v.round, values)
			} else {
				v.leaves(s, err)
			}
			if v.ctx.Err() != nil {
				return context.Cause(v.ctx)
			}
		}
		v.round++
	}
	return context.Cause(v.ctx)
}

// leaves leaves a server out from here on.
func (v *survey) leaves(s *Rival, err error) {
	v.out[s.Name] = true
	if !errors.Is(err, errors.ErrUnsupported) && v.ctx.Err() == nil {
		note := fmt.Sprintf("%s was left out of %s in round %d: %v", s.Name, v.Name, v.round+1, err)
		if last := lastLine(s.log); last != "" {
			note += "; its log ends with: " + last
		}
		v.report.Notes = append(v.report.Notes, note)
	}
}

// knows notes which servers there are.
func (v *survey) knows(rs *Rivals) {
	if v.start == nil {
		v.report.Missing = rs.Missing
	}
	v.Rivals = nil
	for _, s := range rs.List {
		v.Rivals = append(v.Rivals, Server{s.Name, s.Version})
	}
}

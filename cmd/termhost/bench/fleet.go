//go:build linux && !laptop

package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// fleet measures a terminal of a host that is reached through a door of its fleet, and one of the
// same host that is reached directly. The CPU is that of both hosts.
func (how effort) fleet(t text) measurement {
	echo, flood := how.echo(t), flooding(t)
	m := measurement{start: startFleet, Table: Table{
		Name: "fleet", Title: "A host of a fleet", Figures: echo.Figures}}
	beyond := how.beyond(t)
	for _, f := range flood.Figures {
		f.Name = "a flood: " + f.Name
		m.Figures = append(m.Figures, f)
	}
	m.Figures = append(m.Figures, beyond.Figures...)
	m.prepare = func(r *Rival) (*probe, error) {
		keys, err := echo.prepare(r)
		if err != nil {
			return nil, err
		}
		text, err := flood.prepare(r)
		if err != nil {
			keys.close()
			return nil, err
		}
		rest, err := beyond.prepare(r)
		if err != nil {
			keys.close()
			text.close()
			return nil, err
		}
		list := []*probe{keys, text, rest}
		sample := func() (values []float64, err error) {
			for _, p := range list {
				some, err := p.sample()
				if err != nil {
					return nil, err
				}
				values = append(values, some...)
			}
			return values, nil
		}
		return &probe{sample, func() {
			for _, p := range list {
				p.close()
			}
		}}, nil
	}
	return m
}

// startFleet starts program as three hosts, of which one has made a fleet, in whose process the
// fleet's server is, and the others have joined it over loopback. Two of them are measured. It is a
// [measurement]'s start.
func startFleet(program, dir string) (*Rivals, error) {
	rs, err := newRivals(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"door", "box", "third"} {
		in := rs.in(name)
		err := os.Mkdir(in, 0o700)
		if err == nil {
			err = rs.addHost(program, in, Variant{Name: name})
		}
		if err != nil {
			rs.Close()
			return nil, err
		}
	}
	door, box, third := rs.List[0], rs.List[1], rs.List[2]
	rs.List = rs.List[:2]
	if err := rs.unite(program, door); err != nil {
		rs.Close()
		return nil, err
	}
	door.Name, box.Name = "through a door", "directly"
	door.dir, box.dir = dir, dir // the processes of both
	on := func(host string) func(string) (*Session, error) {
		return func(line string) (*Session, error) {
			return door.startSSH("new --on "+host+" -- "+line, window{})
		}
	}
	door.open, third.open = on("box"), on("third")
	hop, err := rs.observe()
	if err != nil {
		rs.Close()
		return nil, err
	}
	door.fleet = &neighbours{third, hop.echo}
	return rs, nil
}

// unite makes a fleet of the hosts door, which is home, box and third, and of the observer.
func (rs *Rivals) unite(program string, home *Rival) error {
	listen, err := freeAddress()
	if err != nil {
		return err
	}
	_, err = rs.manage(program, "door", "init", "--name", "door", "--listen", listen)
	if err != nil {
		return err
	}
	if err := home.lists("door"); err != nil { // its server listens
		return err
	}
	if err := rs.addObserver(); err != nil {
		return err
	}
	for _, name := range []string{"box", "third", observer} {
		said, err := rs.manage(program, "door", "token")
		if err != nil {
			return err
		}
		token := regexp.MustCompile(`fleet join \S+ (\S+)`).FindStringSubmatch(said)
		if token == nil {
			return fmt.Errorf("`fleet token` prints no line to join with, but %q", said)
		}
		_, err = rs.manage(program, name, "join", "--name", name, "tls://"+listen, token[1])
		if err != nil {
			return err
		}
	}
	return errors.Join(home.lists("box .* reachable "), home.lists("third .* reachable "))
}

// manage runs a command of `termhost fleet` for a host, and returns what it prints.
func (rs *Rivals) manage(program, host, verb string, args ...string) (string, error) {
	config := filepath.Join(rs.in(host), "config.toml")
	cmd := exec.Command(program, append([]string{"fleet", verb, "-c", config}, args...)...)
	cmd.Dir, cmd.Env = rs.in(host), append(os.Environ(), "HOME="+rs.in(host))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("fleet %s: %w: %s", verb, err, out)
	}
	return string(out), nil
}

// lists waits until the host's list of hosts has what a pattern matches.
func (r *Rival) lists(pattern string) error {
	wanted := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		// It fails until the host is in the fleet.
		list, err := r.run("hosts")
		if err == nil && wanted.MatchString(list) {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("no %q in the list of hosts: %s", pattern, list), err)
		}
	}
}

//go:build linux && !laptop

package main

import (
	"bytes"
	"errors"
	"maps"
	"net"
	"os"
	"slices"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/rpc/relay"
	"termhost/authz"
	"termhost/sshd"
	"termhost/sshd/carry"
	"termhost/sshd/verbs"
)

// fleetMember is the host's part in a fleet while it runs.
type fleetMember struct {
	*fleet.Fleet
	carrier *carry.Carrier
}

// fleetOut is why a host is not in the fleet that its state folder names.
type fleetOut struct {
	err   error
	again time.Time // when it tries again
}

// fleetRetry is how long a host waits until it tries again to get into its fleet: the port may be
// free then, or the address of a network be there that comes up late.
const fleetRetry = 5 * time.Second

// followFleet joins the fleet that the state folder names, or another one than before. It costs a
// look at a file. A fleet that cannot be joined leaves the host as it is alone. It must not be
// called concurrently.
func (s *server) followFleet() {
	folder := roster.In(s.cfg.StateDir)
	joined, out := folder.Joined(), s.fleetOut.Load()
	switch same := roster.Same(joined, s.fleetFile); {
	case same && (out == nil || time.Now().Before(out.again)):
		return
	case !same:
		out = nil
	}
	s.fleetFile = joined
	s.leaveFleet()
	if joined == nil {
		s.fleetOut.Store(nil)
		return
	}
	f, err := fleet.Open(fleet.Options{
		Folder: folder, Name: s.cfg.Fleet.Name,
		Servers: s.cfg.Fleet.Servers, CredentialsFile: s.cfg.Fleet.Credentials,
		CAFile: s.cfg.Fleet.TLSCAFile, Labels: s.cfg.Fleet.Labels, Version: version(), Log: s.log,
		Terminals: func() int { return s.host.Stats().Terminals }, Names: s.host,
		Serve: s.serveHost,
	})
	if err != nil {
		if out == nil || out.err.Error() != err.Error() {
			s.log.Error("this host stays out of its fleet", "err", err)
		}
		s.fleetOut.Store(&fleetOut{err, time.Now().Add(fleetRetry)})
		return
	}
	s.fleetOut.Store(nil)
	m := &fleetMember{f, &carry.Carrier{Fleet: f, Audit: s.access.Audit.Logger}}
	s.fleet.Store(m)
	s.doorway.Set(relay.NewDoor(carry.Door{Carrier: m.carrier}, s.host, s.log))
	s.log.Info("this host is in a fleet", "name", f.Name())
	s.checkDoors()
}

// checkDoors warns of a host in [fleet] doors that cannot speak for anybody: it may be misspelt.
func (s *server) checkDoors() {
	m := s.fleet.Load()
	if m == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(*s.fleetDoors.Load())) {
		switch door, err := m.Member(name); {
		case err != nil:
			s.log.Warn("fleet.doors has a host that is not in the fleet", "name", name, "err", err)
		case !door.Door:
			s.log.Warn("fleet.doors has a host that is not a door", "name", name,
				"hint", "a host becomes one by the line of `termhost fleet token --door`")
		}
	}
}

// leaveFleet ends the streams to and from other hosts.
func (s *server) leaveFleet() {
	s.doorway.Set(nil)
	if m := s.fleet.Swap(nil); m != nil {
		if err := m.Close(); err != nil {
			s.log.Warn("the fleet was not left cleanly", "err", err)
		}
	}
}

// fleetVerbs is [sshd.Config.Fleet].
func (s *server) fleetVerbs() verbs.Fleet {
	if m := s.fleet.Load(); m != nil && !m.Removed() {
		return m.carrier
	}
	return nil
}

// noFleet is [sshd.Config.NoFleet].
func (s *server) noFleet() error {
	out := s.fleetOut.Load()
	switch m := s.fleet.Load(); {
	case m != nil && m.Removed():
		return roster.ErrRemoved
	case out != nil && errors.Is(out.err, roster.ErrRemoved):
		return out.err
	case out != nil:
		return errors.New("this host stays out of its fleet, and tries again; its log says why")
	}
	return roster.ErrNoFleet
}

// jump is [sshd.Config.Jump].
func (s *server) jump(host string) (net.Conn, error) {
	if m := s.fleet.Load(); m != nil {
		return m.Dial(host, fleet.KindJump)
	}
	return nil, os.ErrNotExist // it has just been left
}

// serveHost is [fleet.Options.Serve].
func (s *server) serveHost(f *fleet.Fleet, kind fleet.Kind, door roster.Member, nc net.Conn) {
	if kind == fleet.KindJump {
		s.ssh.ServeJump(nc)
		return
	}
	s.ssh.ServeCarried(nc, sshd.Carried{
		Host: f.Name(), Signer: f.Signer(), Late: f.Late,
		Authenticate: func(user string, key gossh.PublicKey) (authz.Principal, string, error) {
			return s.asserted(f, door, user, key)
		},
	})
}

// asserted returns for whom a door speaks, who has signed user with key, and how the audit log
// names that.
func (s *server) asserted(f *fleet.Fleet, door roster.Member, user string, key gossh.PublicKey) (
	p authz.Principal, from string, err error) {
	now, err := f.Member(door.Name)
	if err != nil {
		return p, "", err
	}
	want, err := now.SSHKey()
	if err != nil {
		return p, "", err
	}
	if !now.Door || now != door || !bytes.Equal(want.Marshal(), key.Marshal()) {
		return p, "", sshd.ErrStranger
	}
	a, err := fleet.ParseAssertion(user, f.Name(), door.Name)
	if err != nil {
		return p, "", err
	}
	p, err = s.access.Authority.Asserted(a.Principal, door.Name, s.mostFrom(door.Name))
	return p, a.Source(), err
}

// mostFrom returns the role that a door may assert at most.
func (s *server) mostFrom(door string) authz.Role {
	doors := s.fleetDoors.Load()
	if doors == nil {
		return authz.NoRole
	}
	name, named := (*doors)[door]
	if !named {
		return authz.Operator
	}
	role, err := authz.ParseRole(name)
	if err != nil { // the configuration was checked
		return authz.NoRole
	}
	return role
}

package sshd

import (
	"context"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// subsystem serves AHP on the channel, a message per line, on a seat of its own
// at the host.
func (s *sshSession) subsystem() int {
	v := s.invoke()
	if err := authz.Check(s.c.principal(), authz.Subsystem, authz.Target{}); err != nil {
		return v.failed(err)
	}
	hc, err := s.c.srv.cfg.Host.Connect(s.c.principal(), host.DoorSubsystem)
	if err != nil {
		return v.failed(err)
	}
	defer hc.Close()
	hc.Prove(s.c.prove(s.c.grant))
	leave := func(reason string) error {
		if why := context.Cause(s.ctx); why != nil {
			reason = why.Error()
		}
		status := statusOK
		if reason != rpc.Goodbye {
			status = statusFailed
			_, _ = v.stderr.Write([]byte("termhost: " + host.Printable(reason) + "\n"))
		}
		// The reader wakes when the peer has closed its side.
		s.finish(status)
		return nil
	}
	stop := context.AfterFunc(s.ctx, hc.Close)
	defer stop()
	lines := rpc.NewLines(s.ch, s.stdout, s.c.srv.cfg.MaxMessageBytes, leave)
	opts := s.c.srv.cfg.AHP
	opts.Log = s.c.log
	// Why it ended has been said and is not news to the log.
	_ = rpc.Serve(lines, hc, opts)
	return statusOK // finish has been called
}

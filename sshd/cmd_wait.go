package sshd

import (
	"context"
	"fmt"
	"time"
)

// runWait waits until a terminal has ended.
func runWait(v *invocation) int {
	fs := v.flags()
	timeout := fs.Duration("timeout", 0, "")
	args, status, done := v.parse(fs, 1, 1)
	switch {
	case done:
		return status
	case *timeout < 0:
		return v.misused("--timeout must be positive")
	}
	t, err := v.host().Find(v.principal(), args[0])
	if err != nil {
		return v.failed(err)
	}
	var late <-chan time.Time
	if *timeout > 0 {
		timer := time.NewTimer(*timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.Done():
		st, _ := t.Exit()
		return statusOf(st)
	case <-late:
		fmt.Fprintf(v.stderr, "termhost: error: %s is still running after %v\n", t.Name(), *timeout)
		return statusTimeout
	case <-v.s.ctx.Done():
		return v.failed(context.Cause(v.s.ctx))
	}
}

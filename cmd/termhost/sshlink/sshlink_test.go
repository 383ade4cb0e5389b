package sshlink

import (
	"strings"
	"testing"
)

func TestTheUsersOptionsReachSSH(t *testing.T) {
	for _, c := range []struct{ in, subsystem, attach, err string }{
		{in: "host",
			subsystem: "ssh -T -o RemoteCommand=none -o ClearAllForwardings=yes -o ServerAliveInterval=15 host -s ahp",
			attach:    "ssh -t -o RemoteCommand=none -o ClearAllForwardings=yes host attach -r N"},
		{in: "-p 2222 -4Ci key -oUser=me me@host -v",
			subsystem: "ssh -T -o RemoteCommand=none -o ClearAllForwardings=yes -p 2222 -4Ci key -oUser=me -v -o ServerAliveInterval=15 me@host -s ahp",
			attach:    "ssh -t -o RemoteCommand=none -o ClearAllForwardings=yes -p 2222 -4Ci key -oUser=me -v me@host attach -r N"},
		{in: "", err: "no host"},
		{in: "-v", err: "no host"},
		{in: "-p", err: "needs a value"},
		{in: "a b", err: `unexpected argument "b"`},
		{in: "-vN a", err: "-N leaves no connection"},
		{in: "-f a", err: "-f leaves no connection"},
		{in: "--locale a", err: "no option --locale"},
	} {
		t.Setenv(Variable, "")
		target, err := Parse(strings.Fields(c.in))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %s", c.in, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := strings.Join(target.subsystem(false), " "); got != c.subsystem {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.subsystem)
		}
		if got := strings.Join(target.Attach("N"), " "); got != c.attach {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.attach)
		}
		if !strings.Contains(strings.Join(target.subsystem(true), " "), " -o BatchMode=yes ") {
			t.Errorf("%q: a reconnection may ask", c.in)
		}
	}
	t.Setenv(Variable, "my ssh -F file")
	if target, err := Parse([]string{"host"}); err != nil || strings.Join(target.subsystem(false)[:5], " ") != "my ssh -F file -T" {
		t.Errorf("the ssh command is %v, %v", target.subsystem(false), err)
	}
}

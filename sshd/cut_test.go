package sshd

import (
	"os/exec"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// What takes minutes is not gone on with when nobody waits for it any more, and others are let in
// meanwhile.
func TestVerbsEndWithTheirConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{
		host:   func(c *host.Config) { c.LogBytes = 32 << 20 },
		people: map[string]string{"alice": "", "eve": asObserver},
	})
	r.ssh("alice", "", "run -n big -- head -c 12000000 /dev/zero | tr '\\0' x | fold -w 6000")
	r.ssh("alice", "", "new -d -n flood -- yes 0123456789abcdef and more")
	const costly = "[^y].{1000}.{1000}[yz]"
	for _, command := range []string{
		"grep '" + costly + "' big", "grep -i '" + costly + "' big", "grep -C 5 '" + costly + "' big",
		"wait --match '" + costly + "' big flood", "log --since 10h big", "cast big", "replay big",
		"log -f --since 10h flood",
	} {
		args := append(r.sshArgs("eve", "-tt"), command)
		cmd := exec.Command("ssh", args...)
		in, err := cmd.StdinPipe() // it does not end
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := hosttest.Start(cmd); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait() // it is killed
			close(ended)
		}()
		hosttest.Eventually(t, "the connection of "+command, func() bool {
			select {
			case <-ended: // it was faster than this
				return true
			default:
				return r.host.Stats().Connections["ssh"] > 0
			}
		})
		if got := r.ssh("alice", "", "ls"); got.status != 0 {
			t.Errorf("beside %s: %+v", command, got)
		}
		_ = cmd.Process.Kill()
		<-ended
		r.empties()
	}
}

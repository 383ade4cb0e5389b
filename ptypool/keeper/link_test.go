package keeper

import (
	"os"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
)

// A killed keeper still accepts connections, and resets them, until its last thread is gone.
func TestAHostWaitsForAKeeperThatDiesSlowlyAndStartsAnother(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	l := newLink(t)
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	dying, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(goneTime+goneTime/2, func() { dying.Close() })
	go func() { // ends with dying
		for {
			c, err := dying.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	if c := connect(t, l); c.Pid == os.Getpid() {
		t.Error("it has found nobody")
	}
}

package host_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// TestTheTerminalsOfAnOlderVersionAreThere is about the state folder that a version before package
// journal has left when it was killed.
func TestTheTerminalsOfAnOlderVersionAreThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, part := range []string{"journal", "recordings"} {
		if err := os.CopyFS(dir, os.DirFS("../"+part+"/testdata/older")); err != nil {
			t.Fatal(err)
		}
	}
	h := after(t, dir, func(c *host.Config) { c.ClientGrace = 2000 * time.Hour })
	if list, err := hosttest.List(h, carol); err != nil || len(list) != 3 {
		t.Fatalf("listed: %+v, %v", list, err)
	}
	x := find(t, h, "x")
	info := x.Info(carol)
	if info.Ended != "because the machine was restarted" || !info.Guarded || x.Tag() != "t" || info.Holder != "alice" ||
		info.LastCommand == nil || *info.LastCommand.ExitCode != 3 {
		t.Errorf("x is listed as %s", asJSON(t, info))
	}
	p := carol
	p.NoForward, p.Opens = true, "localhost:80"
	if x.Creator() != p {
		t.Errorf("x was made by %+v", x.Creator())
	}
	if is := host.HolderOf(x); is.Lenders != carol.ID || is.Priors != carol.ID+" < "+carol.ID {
		t.Errorf("x is held by %+v", is)
	}
	if is := logged(t, h, x); !strings.Contains(is.screen, "making") {
		t.Errorf("x shows %q", is.screen)
	}
	if done := find(t, h, "done").Info(carol); *done.ExitCode != 7 || done.Ended != "" {
		t.Errorf("done is listed as %s", asJSON(t, done))
	}
	if laptop := find(t, h, "laptop"); exited(laptop) || logged(t, h, laptop).raw != "before " {
		t.Errorf("laptop, which waits for its owner, has %q", logged(t, h, laptop).raw)
	}
	if got := hosttest.Conn(t, h, alice).LastUsed(); got != x {
		t.Errorf("alice has used %v", got)
	}
	if c := cast(t, h, recorded(t, h, 2)[1].Recording); !strings.Contains(screenOf(c), "done") {
		t.Errorf("the recording shows %q", screenOf(c))
	}
}

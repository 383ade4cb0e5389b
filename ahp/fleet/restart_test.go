package fleet_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/fleet"
	"termhost/ahp/hosttest"
)

// dialled returns a stream to a host that has answered.
func dialled(t *testing.T, from *fleet.Fleet, host string) net.Conn {
	t.Helper()
	nc, err := from.Dial(host, fleet.KindCarried)
	hosttest.Check(t, err)
	t.Cleanup(func() { nc.Close() })
	if _, err := nc.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	return nc
}

func TestStreamsEndWhenTheirHostHasRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, box2 := w.three()
		for _, pause := range []time.Duration{0, 4 * time.Second} { // home has heard box2, or not
			nc, err := home.Dial("box2", fleet.KindCarried)
			hosttest.Check(t, err)
			defer nc.Close()
			_, _ = nc.Read(make([]byte, 100))
			time.Sleep(pause)
			w.cut("box2", true) // it is killed: nobody hears of it
			box2.Close()
			w.cut("box2", false)
			box2 = w.open("box2", nil)
			if _, err := nc.Read(make([]byte, 1)); err == nil ||
				!strings.Contains(err.Error(), "restarted") {
				t.Errorf("it ends with %v", err)
			}
		}
	})
}

// A door has restarted and carries somebody to a host that hears only then that it has.
func TestStreamsOfAHostThatHasRestartedStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, _ := w.three()
		for _, pause := range []time.Duration{0, 4 * time.Second} { // box2 has heard home, or not
			before := dialled(t, home, "box2")
			time.Sleep(pause)
			w.cut("home", true) // it is killed
			home.Close()
			w.cut("home", false)
			w.mutes("home", true)
			home = w.open("home", nil)
			time.Sleep(4 * time.Second) // it hears of box2
			nc := dialled(t, home, "box2")
			w.mutes("home", false)
			time.Sleep(4 * time.Second) // and box2 of it
			if _, err := io.WriteString(nc, "x"); err != nil {
				t.Fatal(err)
			}
			if _, err := nc.Read(make([]byte, 1)); err != nil {
				t.Errorf("it ends with %v", err)
			}
			if _, err := before.Read(make([]byte, 1)); err == nil {
				t.Error("one of before goes on")
			}
		}
	})
}

// A host that is silent for longer than anybody waits is given up, and what comes later is new.
func TestStreamsEndWhenTheirHostIsSilentForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, _ := w.three()
		nc := dialled(t, home, "box2")
		w.cut("box2", true)
		time.Sleep(9 * time.Minute)
		w.cut("box2", false)
		time.Sleep(5 * time.Second)
		if _, err := io.WriteString(nc, "x"); err != nil {
			t.Fatalf("after nine minutes: %v", err)
		}
		if _, err := io.ReadFull(nc, make([]byte, 1)); err != nil {
			t.Errorf("after nine minutes: %v", err)
		}
		w.cut("box2", true)
		began := time.Now()
		_, err := nc.Read(make([]byte, 1))
		if err == nil || err.Error() != "the host has been silent for ten minutes" ||
			time.Since(began) > 10*time.Minute+5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		w.cut("box2", false)
		time.Sleep(5 * time.Second)
		dialled(t, home, "box2")
	})
}

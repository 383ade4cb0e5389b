package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/hosttest"
)

// TestAHostThatEndsIsUnreachableAtOnce: nobody waits for its answers until it has been silent long.
func TestAHostThatEndsIsUnreachableAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, box2 := w.three()
		box2.Close()
		synctest.Wait()
		expect(t, home, "box1 box2? home")
		if err := home.Reachable("box2"); err == nil {
			t.Error("it is told to be there")
		}
		w.open("box2", nil)
		time.Sleep(5 * time.Second)
		expect(t, home, "box1 box2 home")
	})
}

// TestALateGoodbyeIsThatOfTheProcessBefore: two connections may overtake each other.
func TestALateGoodbyeIsThatOfTheProcessBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, _ := w.three()
		box1.Close()
		node, err := bus.New("box1", w.net.Connect("box1"), bus.Handlers{})
		hosttest.Check(t, err)
		defer node.Close()
		for sign, want := range map[string]string{
			`{"boot":"before","leaves":true}`: "box1 box2 home",
			`{"boot":"now","leaves":true}`:    "box1? box2 home",
		} {
			hosttest.Check(t, node.Announce([]byte(`{"boot":"now"}`)))
			hosttest.Check(t, node.Announce([]byte(sign)))
			synctest.Wait()
			expect(t, home, want)
		}
	})
}

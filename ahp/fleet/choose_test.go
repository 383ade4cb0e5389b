package fleet_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/hosttest"
)

func TestChooseTakesANameOrTheLeastLoadedHostWithAllLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, _ := w.three()
		for on, want := range map[string]string{
			"box2": "box2", "gpu=a100": "box1", "a100": "box1", "gpu=h100": "", "a100,x": "",
			"gpu=": "", "": "",
		} {
			if got, err := home.Choose(on); got != want || (err == nil) != (want != "") {
				t.Errorf("--on %s is %q (%v)", on, got, err)
			}
		}
	})
}

func TestAMisspeltHostOrLabelIsToldWithTheOneThatMayBeMeant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, _ := w.three()
		for on, want := range map[string]string{
			"bxo1":    "box1 (gpu=a100), box2, home; did you mean box1?",
			"gpu=a10": "; did you mean gpu=a100?", "A100x": "; did you mean a100?",
			"zone=eu": "box1 (gpu=a100), box2, home",
		} {
			if _, err := home.Choose(on); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("--on %s: %v, want %s", on, err, want)
			}
		}
	})
}

func TestWhatIsMadeAtOnceIsSharedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		hosttest.Check(t, w.folder("home").Found("home", "127.0.0.1:1", nil))
		home := w.open("home", nil)
		for _, name := range []string{"box1", "box2"} {
			hosttest.Check(t, w.join(name, w.token(false)))
			w.open(name, map[string]string{"zone": "eu"})
		}
		time.Sleep(5 * time.Second)
		for range 2 { // what a host says counts, again and again
			for i, want := range []string{"box1", "box2", "box1", "box2"} {
				if got, err := home.Choose("eu"); err != nil || got != want {
					t.Errorf("number %d is made on %q, want %q (%v)", i, got, want, err)
				}
			}
			_, err := home.Choose("box1")
			hosttest.Check(t, err)
			if got, err := home.Choose("zone=eu"); err != nil || got != "box2" {
				t.Errorf("behind one that has a place: %q (%v)", got, err)
			}
			time.Sleep(5 * time.Second)
		}
	})
}

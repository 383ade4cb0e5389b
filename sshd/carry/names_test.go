package carry_test

import (
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

func TestABareNAMEOfSeveralHostsIsAnError(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1", "box2")
	home.makes("home", "build", "home-")
	home.makes("box2", "build", "box2-")
	home.makes("box1", "test", "box1-")
	hosttest.Eventually(t, "home knows the names", func() bool {
		return len(home.runner.Fleet().WithName("build")) == 1
	})
	for line, want := range map[string]string{
		"peek build":      "termhost: error: there are several: box2/build, home/build",
		"send build x":    "termhost: error: there are several: box2/build, home/build",
		"peek home/build": "home-", "peek box2/build": "box2-", "peek test": "box1-",
		"peek nothing": "termhost: error: there is no terminal \"nothing\"",
	} {
		if out, _ := home.run(line); !strings.HasPrefix(strings.TrimSpace(out), want) {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
	p := newPipes("")
	local := home.caller(p)
	local.Local = true // as an agent on the host's own machine
	home.runner.Exec(t.Context(), local, "peek build")
	p.Wait()
	if got := strings.TrimSpace(p.out.String()); got != "home-" {
		t.Errorf("on the machine itself: %q %s", got, &p.errs)
	}
}

// The host has not announced the NAME yet that it has got through this door.
func TestADoorKnowsAtOnceTheNAMEsThatItHasMade(t *testing.T) {
	t.Parallel()
	w, home, _ := newTown(t, "box1")
	for _, name := range []string{"fresh", "given", "shown"} {
		home.makes("home", name, "home-")
	}
	w.mutes("box1", true)
	several := func(name string) {
		t.Helper()
		want := "termhost: error: there are several: box1/" + name + ", home/" + name
		if out, status := home.run("send --enter " + name + " x"); status == 0 ||
			strings.TrimSpace(out) != want {
			t.Errorf("it is typed with status %d: %q, want %q", status, out, want)
		}
	}
	makes := func(line string) {
		t.Helper()
		if out, status := home.run(line); status != 0 {
			t.Fatalf("%s: %s", line, out)
		}
	}
	makes("new --on box1 -d -n fresh -- cat")
	several("fresh")
	w.mutes("box1", false)
	hosttest.Eventually(t, "they are announced", func() bool {
		return len(home.runner.Fleet().WithName("fresh")) == 1
	})
	hosttest.Eventually(t, "box1 has announced them since", func() bool {
		return len(home.runner.Fleet().WithName("given")) == 0
	})
	w.mutes("box1", true)
	makes("rename box1/fresh given")
	several("given")
	p := home.sits("new --on box1 -n shown -- cat")
	hosttest.Eventually(t, "it is shown", func() bool {
		out, _ := home.run("who box1/shown")
		return strings.Contains(out, "operator")
	})
	several("shown")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

func TestTheBeginningOfANAMEThatOneHostHasIsEnoughToAttach(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1", "box2")
	home.makes("home", "deploy", "home-")
	home.makes("box1", "test-unit", "unit-")
	home.makes("box2", "test-all", "all-")
	home.makes("box2", "depend", "dep-")
	p := home.sits("attach test-u")
	p.Sees("unit-")
	p.Types(pressed("d"))
	p.Sees("ssh -t HOST attach box1/test-unit")
	<-p.Status
	for line, want := range map[string]string{
		"attach -r tes": `"tes" could be any of: box1/test-unit, box2/test-all`,
		"attach -r dep": `"dep" could be any of: box2/depend, home/deploy`,
		"peek test-u": `there is no terminal "test-u"; the whole NAME is needed: ` +
			`box1/test-unit?`,
		"send dep x":         `there is no terminal "dep"; the whole NAME is needed: box2/depend, home/deploy?`,
		"peek box2/t":        `there is no terminal "box2/t"; the whole NAME is needed: box2/test-all?`,
		"attach -r box2/":    `there is no terminal "box2/"`,
		"attach -r box1/abc": `there is no terminal "box1/abc"`,
	} {
		out, status := home.run(line)
		if out, _, _ := strings.Cut(out, "\n"); out != "termhost: error: "+want || status == 0 {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
}

// What another host prints is for a person who types at the door.
func TestHintsOfAnotherHostNameItsTerminalsAsTheDoorDoes(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1")
	home.makes("box1", "build", "build-")
	for line, want := range map[string]string{
		"new --on box1 -d -n build": "hint: `ssh -t HOST attach box1/NAME` shows it",
		"wait --command box1/build": "`ssh HOST log --tail N box1/NAME` prints the end of its log",
	} {
		if out, _ := home.run(line); !strings.Contains(out, want) {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
}

// Whatever is said of a terminal of another host names it with its host, and takes it so.
func TestRepliesNameATerminalOfAnotherHostWithItsHost(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1")
	home.makes("box1", "work", "work-")
	home.makes("box1", "other", "other-")
	home.makes("home", "own", "own-")
	const e = "error: "
	for _, c := range [][2]string{
		{"rename box1/work w1", "box1/work is now called box1/w1"},
		{"rename box1/w1 box1/work", "box1/w1 is now called box1/work"},
		{"rename work box1/work", "it is already called box1/work"},
		{"rename box1/work home/w1", e + "a terminal stays on its host: box1/work cannot be called " +
			"home/w1"},
		{"rename own box1/own", e + "a terminal stays on its host: home/own cannot be called box1/own"},
		{"rename box1/work nosuch/w1", e + `the fleet has no host "nosuch", but box1, home`},
		{"rename box1/work box1/other", e + `a terminal named "box1/other" exists; choose another ` +
			"name, or attach to it"},
		{"rename own home/mine", "own is now called mine"},
		{"guard box1/work on", "box1/work is guarded: what agents type waits for your yes"},
		{"guard box1/work off", "box1/work is not guarded: agents type without asking"},
		{"approve box1/work", e + "nothing is waiting for an answer in box1/work"},
		{"wait --timeout 10ms box1/work", e + "still waiting for box1/work after 10ms"},
		{"record box1/work off", "box1/work is not recorded"},
	} {
		out, _ := home.run(c[0])
		if first, _, _ := strings.Cut(out, "\n"); first != "termhost: "+c[1] {
			t.Errorf("%s: %q, want %q", c[0], first, c[1])
		}
	}
	if out, _ := home.run("who box1/work"); out != "nobody watches box1/work\n" {
		t.Errorf("who: %q", out)
	}
	p := home.sits("attach box1/work")
	p.Sees("work-")
	p.Types(pressed("g"))
	p.Sees("box1/work is guarded")
	p.Types(pressed("d"))
	p.Sees("[detached: box1/work goes on running; `ssh -t HOST attach box1/work` comes back]")
	p.SeesAll()
	<-p.Status
}

func TestErrorsOfAFleetSayWhichHostsThereAre(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1", "box2")
	home.makes("box1", "build", "build-")
	const hosts = ", but box1, box2, home"
	for line, want := range map[string]string{
		"peek nosuch/build":                `the fleet has no host "nosuch"` + hosts,
		"peek Box1/build":                  `the fleet has no host "Box1"` + hosts + "; did you mean box1?",
		"peek ahp-terminal://nosuch/build": `the fleet has no host "nosuch"` + hosts,
		"new --on gpu -d":                  `no host that can be reached has the name or all labels "gpu"` + hosts,
		"new --on box1 --on box2 -d": `invalid value "box2" for flag --on: it is given twice; ` +
			"labels are joined by commas: --on gpu=a100,eu",
		"new --on -d": `invalid value "-d" for flag --on: it needs a host of the fleet, or labels`,
		"invite --terminal box1/build": "box1/build is of another host, which only lets in whom " +
			"it is asked for itself: `ssh -J HOST box1 invite`, with the NAME build",
		"invite --terminal nosuch/build": `the fleet has no host "nosuch"` + hosts,
		"grep (":                         "error parsing regexp: missing closing ): `(`",
		"grep --no-such-flag x":          "flag provided but not defined: --no-such-flag",
		"wait":                           "wait needs an argument",
	} {
		out, status := home.run(line)
		if first, _, _ := strings.Cut(out, "\n"); status == 0 || first != "termhost: error: "+want {
			t.Errorf("%s: %q, want %q", line, first, want)
		}
		if n := strings.Count(out, "error:"); n != 1 {
			t.Errorf("%s: %d errors: %s", line, n, out)
		}
	}
}

func TestARecordingOfAnotherHostIsNamedAsTheDoorTakesIt(t *testing.T) {
	t.Parallel()
	_, home, _ := newTown(t, "box1")
	home.makes("box1", "build", "build-")
	out, status := home.run("record box1/build on")
	name := strings.TrimSpace(out)
	if status != 0 || !strings.HasPrefix(name, "box1/build-") {
		t.Fatalf("it is called %q", out)
	}
	if out, status := home.run("cast " + name); status != 0 || !strings.Contains(out, `"version":3`) {
		t.Errorf("%s cannot be had: %s", name, out)
	}
	if out, _ := home.run("recordings"); !strings.Contains(out, "`ssh -J HOST box1 recordings`") {
		t.Errorf("at the door it is lost: %s", out)
	}
}

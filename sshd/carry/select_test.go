package carry_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

func TestWaitFindsTerminalsOfAllHostsByLabel(t *testing.T) {
	_, home, boxes := newTown(t, "box1", "box2", "box3")
	for on, script := range map[*box]string{home: "sleep 1000", boxes[0]: "read x; exit 7",
		boxes[1]: "read x; exit 9"} {
		out, status := on.run("new -d -n job --label team=a -- " + script)
		if status != 0 {
			t.Fatal(out)
		}
	}
	if out, status := boxes[2].run("new -d -n job --label team=b -- exit 3"); status != 0 {
		t.Fatal(out)
	}
	if out, status := home.run("wait -l team=none"); status != 1 ||
		!strings.Contains(out, "no terminal has labels as -l says") {
		t.Errorf("where none is so labelled: %d, %s", status, out)
	}
	if out, status := home.run("wait --timeout 10ms --all -l team=a"); status != 124 {
		t.Errorf("while all run: %d, %s", status, out)
	}
	out, status := home.run("wait -l team=b")
	if status != 3 || strings.TrimSpace(out) != "box3/job" {
		t.Errorf("of one host: %d, %q", status, out)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out, status = home.run("wait -l team=a")
	}()
	boxes[1].run("send --enter job -- x")
	slowtest.Receive(t, "the first end", ended)
	if status != 9 || strings.TrimSpace(out) != "box2/job" {
		t.Errorf("the first of several hosts: %d, %q", status, out)
	}
}

func TestRmFindsTerminalsOfAllHostsByLabelOrEnd(t *testing.T) {
	_, home, boxes := newTown(t, "box1", "box2")
	left := func() (list []string) {
		for _, b := range boxes {
			out, _ := b.run("ls --json")
			for _, name := range []string{"old", "done", "stays"} {
				if strings.Contains(out, `"name": "`+name+`"`) {
					list = append(list, b.name+"/"+name)
				}
			}
		}
		return list
	}
	for _, b := range boxes {
		on := "new --on " + b.name + " -d -n "
		for _, line := range []string{on + "old --label team=a -- sleep 1000", on + "done -- true",
			on + "stays -- sleep 1000", "wait " + b.name + "/done"} {
			if out, status := home.run(line); status != 0 {
				t.Fatal(line, out)
			}
		}
	}
	for _, line := range []string{"rm -l team=a", "rm --exited"} { // as an agent on the machine
		p := newPipes("")
		local := home.caller(p)
		local.Local = true
		home.runner.Exec(t.Context(), local, line)
		p.Wait()
	}
	if got := left(); len(got) != 6 {
		t.Fatalf("what runs on the door's machine has removed some: there are %s", got)
	}
	if out, status := home.run("rm -l team=none"); status != 1 {
		t.Errorf("where none is so labelled: %d, %s", status, out)
	}
	if out, status := home.run("rm -l team=a"); status != 0 ||
		!strings.Contains(out, "box1/old removed") || !strings.Contains(out, "box2/old removed") {
		t.Errorf("by label: %d, %s", status, out)
	}
	hosttest.Eventually(t, "they are gone", func() bool {
		return slices.Equal(left(), []string{"box1/done", "box1/stays", "box2/done", "box2/stays"})
	})
	if out, status := home.run("rm --exited"); status != 0 ||
		strings.Count(out, ": 1 exited terminal removed") != 2 {
		t.Errorf("what has exited: %d, %s", status, out)
	}
	if got := left(); !slices.Equal(got, []string{"box1/stays", "box2/stays"}) {
		t.Errorf("there are %s", got)
	}
	if out, status := home.run("rm --exited"); status != 0 ||
		!strings.Contains(out, "0 exited terminals removed") {
		t.Errorf("without any: %d, %s", status, out)
	}
}

func TestWaitWaitsForAHostThatWasSilentAtFirst(t *testing.T) {
	_, home, boxes := newTown(t, "box1", "box2")
	for _, b := range boxes {
		out, status := b.run("new -d -n job --label team=a -- read x; exit 7")
		if status != 0 {
			t.Fatal(out)
		}
	}
	home.run("ls") // so that it is known what box1 had
	boxes[0].failing()()
	if out, status := home.run("wait --timeout 10ms --all -l team=a"); status != 124 {
		t.Errorf("while one is silent: %d, %s", status, out)
	}
	type end struct {
		out    string
		status int
	}
	ended := make(chan end, 1)
	waits := newSaying("waiting for box1, too")
	go func() {
		status := home.runner.Exec(t.Context(), home.caller(waits), "wait --all -l team=a").Status
		waits.Wait()
		ended <- end{waits.out.String(), status}
	}()
	slowtest.Receive(t, "what is waited for", waits.said)
	boxes[1].run("send --enter job -- x")
	boxes[0].run("send --enter job -- x")
	boxes[0].restarts()
	if e := slowtest.Receive(t, "the last end", ended); e.status != 7 ||
		!strings.Contains(e.out, "box1/job") {
		t.Errorf("when it is back: %d, %s", e.status, e.out)
	}
}

// saying is a peer of which it is known when it is told something.
type saying struct {
	*pipes
	text string
	said chan struct{} // closed when it was
	errs bytes.Buffer
}

func newSaying(text string) *saying {
	s := &saying{pipes: newPipes(""), text: text, said: make(chan struct{})}
	s.Err = s
	return s
}

// Write takes what is said on stderr.
func (s *saying) Write(p []byte) (int, error) {
	before := strings.Contains(s.errs.String(), s.text)
	n, err := s.errs.Write(p)
	if !before && strings.Contains(s.errs.String(), s.text) {
		close(s.said)
	}
	return n, err
}

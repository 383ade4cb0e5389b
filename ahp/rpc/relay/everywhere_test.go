package relay_test

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/hosttest"
)

// searched is what termhost/search finds.
type searched struct {
	Terminals []struct {
		Channel string
		Count   int
		Lines   []struct{ Text string }
	}
	Unsearched []struct{ Host, Reason string }
}

// found returns where a search finds how many lines, and which hosts have not searched.
func (w *town) found(c *client.Client, pattern string, channels ...string) string {
	w.t.Helper()
	var s searched
	hosttest.Check(w.t, c.Call(w.ctx, ahp.MethodSearch,
		map[string]any{"pattern": pattern, "channels": channels}, &s))
	var all []string
	for _, t := range s.Terminals {
		all = append(all, fmt.Sprintf("%s %d", t.Channel, t.Count))
	}
	for _, u := range s.Unsearched {
		why, _, _ := strings.Cut(u.Reason, " since ")
		all = append(all, fmt.Sprintf("not %s: %s", u.Host, why))
	}
	return strings.Join(all, ", ")
}

// prints makes a terminal that prints and stays.
func (w *town) prints(c *client.Client, uri, text string) {
	w.t.Helper()
	w.sees(w.run(c, uri, "printf '"+text+"'; echo end; read x"), "end")
}

func TestASearchIsOverAllHosts(t *testing.T) {
	w := newTown(t, "home", "box1", "box2")
	way := w.door("home")
	c := w.connect("home", way, ann)
	w.prints(c, "ahp-terminal:/here", "a needle\\n")
	w.prints(c, "ahp-terminal://box1/a", "a needle\\nmore needles\\n")
	w.prints(c, "ahp-terminal://box2/a", "a needle\\n")
	w.prints(c, "ahp-terminal://box2/b", "nothing\\n")
	const here, box1 = "ahp-terminal:/here 1", "ahp-terminal://box1/a 2"
	const box2, silent = "ahp-terminal://box2/a 1", "not box1: unreachable"
	for _, f := range []struct {
		channels []string
		want     string
	}{
		{nil, here + ", " + box1 + ", " + box2},
		{[]string{"ahp-terminal:/here"}, here},
		{[]string{"ahp-terminal://box2/b", "ahp-terminal://box2/a"}, box2},
		{[]string{"ahp-terminal://box1/a", "ahp-terminal:/here"}, here + ", " + box1},
	} {
		if got := w.found(c, "needle", f.channels...); got != f.want {
			t.Errorf("in %q it finds %q, want %q", f.channels, got, f.want)
		}
	}
	w.cut("box1", true)
	if got, want := w.found(c, "needle"), here+", "+box2+", "+silent; got != want {
		t.Errorf("without box1 it finds %q, want %q", got, want)
	}
	if got := w.found(c, "needle", "ahp-terminal://box1/a"); got != silent {
		t.Errorf("on box1 it finds %q, want %q", got, silent)
	}
}

// Two hosts search each other while nobody may read more than is being searched: neither waits
// for the other.
func TestSearchesOfTwoDoorsDoNotWaitForEachOther(t *testing.T) {
	w := newTown(t, "home", "other")
	a, b := w.connect("home", w.door("home"), ann), w.connect("other", w.door("other"), ann)
	w.prints(a, "ahp-terminal:/a", "a needle\\n")
	w.prints(b, "ahp-terminal:/b", "a needle\\n")
	const each = 20
	done := make(chan string)
	for _, c := range []*client.Client{a, b} {
		go func() {
			for range each {
				done <- w.found(c, "needle")
			}
		}()
	}
	for range 2 * each {
		if got := <-done; !contains(got, "//other/b 1") && !contains(got, "//home/a 1") {
			t.Errorf("it finds %q", got)
		}
	}
}

// What a host that was broken into has found is on that host, and bounded.
func TestABrokenHostFindsInNoOther(t *testing.T) {
	w := newTown(t, "home", "box", "other")
	way := w.door("home")
	line := `{"time":"2026-01-02T03:04:05Z","text":"\u001b[2J` + strings.Repeat("y", 2000) + `"}`
	forged := `{"terminals":[{"channel":"ahp-terminal://other/t","count":1,"lines":[]},` +
		`{"channel":"ahp-terminal:/t","count":1000000,"lines":[` + line +
		strings.Repeat(","+line, 100) + `]},` +
		`{"channel":"ahp-terminal:/u","count":-1,"lines":null},{"channel":"nothing","count":1},` +
		`{"channel":"ahp-terminal:/v","count":1}],"unsearched":[{"host":"other","reason":"forged"}]}`
	w.breakInto("box", func(sent string) string {
		if before, _, is := strings.Cut(sent, `"result":{"terminals":`); is {
			return before + `"result":` + forged + "}\n"
		}
		return sent
	})
	c := w.connect("home", way, ann)
	var s searched
	hosttest.Check(t, c.Call(w.ctx, ahp.MethodSearch, map[string]any{"pattern": "needle"}, &s))
	for _, found := range s.Terminals {
		if !strings.HasPrefix(found.Channel, "ahp-terminal://box/") {
			t.Errorf("it finds in %s", found.Channel)
		}
		if found.Count > 10_000 || len(found.Lines) > 50 || found.Lines == nil {
			t.Errorf("it finds %d lines, and shows %d", found.Count, len(found.Lines))
		}
		for _, l := range found.Lines {
			if len(l.Text) > 500 || contains(l.Text, "\x1b") {
				t.Fatalf("it shows %q", l.Text)
			}
		}
	}
	if len(s.Terminals) != 3 || len(s.Unsearched) > 0 {
		t.Errorf("it finds in %d terminals; %v", len(s.Terminals), s.Unsearched)
	}
}

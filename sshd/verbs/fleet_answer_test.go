package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp/hosttest"
)

// hostile is a fleet in which the host "box" was broken into, and prints what it likes.
type hostile string

func (hostile) Hosts() []FleetHost {
	return []FleetHost{{Name: "box", Reachable: true},
		{Name: "home", Self: true, Door: true, Reachable: true}}
}

func (h hostile) Survey(context.Context) ([]FleetHost, error) { return h.Hosts(), nil }

func (hostile) Choose(string) (string, error) { return "", errors.New("none") }

func (hostile) WithName(string) []string { return []string{"box"} }

func (h hostile) Run(_ context.Context, c Caller, _, _ string) (Exit, error) {
	_, err := io.WriteString(c.Stdout(), string(h))
	return Exit{}, err
}

func (h hostile) Output(context.Context, Caller, string, string) ([]byte, error) {
	return []byte(h), nil
}

func (hostile) Show(context.Context, Caller, string, string, *Arrival) (Showing, error) {
	return nil, errors.New("none")
}

func TestABrokenHostSpeaksForNoOtherInAList(t *testing.T) {
	for _, c := range []struct{ verb, prints, want string }{
		{"ls --json", `[{"name":"a"}]`, "box/a"},
		{"ls --json", `[{"name":"a","host":"home"}, {"name":"b"}]`, "box/b"},
		{"ls --json", `[null, {}, 1, {"name":"../x"}, {"name":"b"}]`, "box/b"},
		{"asks --json", `[{"host":"box","name":"a"}]`, "box/a"},
		{"asks --json", `[{"host":"box","name":"a","host":"home"}]`, "box/a"},
		{"asks --json", `[{"host":"home","HOST":"home","name":"a"}, null]`, "box/a"},
	} {
		r := newRunner(t)
		r.Fleet = func() Fleet { return hostile(c.prints) }
		got := r.run(t, "", c.verb)
		var list []map[string]any
		hosttest.Check(t, json.Unmarshal([]byte(got.stdout), &list))
		names := []string{}
		for _, i := range list {
			names = append(names, i["host"].(string)+"/"+i["name"].(string))
		}
		if all := strings.Join(names, " "); all != c.want {
			t.Errorf("%s: %s makes %q, want %q", c.verb, c.prints, all, c.want)
		}
	}
}

func TestLinesOfABrokenHostControlNoTerminalAndSpeakForNoOther(t *testing.T) {
	long := "box/a:" + strings.Repeat("x", maxJoined)
	for _, c := range []struct{ verb, prints, want string }{
		{"grep x", "box/a:\t1\x1b[2J\x9b1A\r\n--\n", "box/a:\t1[2J1A\n--\n"},
		{"grep x", "home/a:1\nbox2/a:1\nend", "box: home/a:1\nbox: box2/a:1\nbox: end"},
		{"grep x", long + "home/a:1\nbox/a:2\n", long[:maxJoined] + "\nbox/a:2\n"},
		{"asks", "NAME  ASK\nbox/a @1\n      goes on\nhome/a @1\n", "NAME  ASK\nbox/a @1\n" +
			"      goes on\nbox: home/a @1\n"},
		{"asks", "   rm -rf\n", "box:    rm -rf\n"},
	} {
		r := newRunner(t)
		r.Fleet = func() Fleet { return hostile(c.prints) }
		if got := r.run(t, "", c.verb); got.stdout != c.want {
			t.Errorf("%s prints %.200q, want %.200q", c.verb, got.stdout, c.want)
		}
	}
	for line, want := range map[string]string{
		"2026-11-26T07:00:00Z box/a exited":  "2026-11-26T07:00:00Z box/a exited",
		"2026-11-26T07:00:00Z home/a exited": "box: 2026-11-26T07:00:00Z home/a exited",
		"box/a exited":                       "box: box/a exited",
	} {
		if got := string(says("box", afterTime)([]byte(line))); got != want {
			t.Errorf("an event is %q, want %q", got, want)
		}
	}
	marked, ok := hosted("box", []byte(`{"host":"home","a":1,"HOST":"home","b":{"host":"x"}}`))
	if string(marked) != `{"host":"box","a":1,"b":{"host":"x"}}` || !ok {
		t.Errorf("JSON becomes %s", marked)
	}
	marked, _ = hosted("box", []byte(`{"uri":"ahp-terminal://home/a","URI":"x","uri":1}`))
	if string(marked) != `{"host":"box","uri":"ahp-terminal://box/ahp-terminal:@home/a"}` {
		t.Errorf("a URI of another host becomes %s", marked)
	}
	for _, bad := range []string{"", "1", "[]", `{"a":1}{"host":"home"}`, `{"a":1`, "home/x"} {
		if _, ok := hosted("box", []byte(bad)); ok {
			t.Errorf("%q is an object", bad)
		}
	}
}

// refusing is a fleet in which the host "box" lists a terminal once, and then lets nobody in.
type refusing struct {
	hostile
	listed *atomic.Bool
}

func (f refusing) Hosts() []FleetHost {
	list := f.hostile.Hosts()
	list[0].Heard = time.Now()
	return list
}

func (f refusing) Output(context.Context, Caller, string, string) ([]byte, error) {
	if f.listed.Swap(true) {
		return nil, &RefusedError{"box", "the key is revoked"}
	}
	return []byte(`[{"name":"there","state":"running"}]`), nil
}

func TestAHostThatLetsNobodyInIsSaidToRefuseNotToBeSilent(t *testing.T) {
	r := newRunner(t)
	f := refusing{"", new(atomic.Bool)}
	r.Fleet = func() Fleet { return f }
	if got := r.run(t, "", "ls"); !strings.Contains(got.stdout, "there") || got.stderr != "" {
		t.Fatalf("at first: %+v", got)
	}
	const why = "box refuses: the key is revoked\n"
	got := r.run(t, "", "ls")
	if !strings.Contains(got.stdout, " refused ") || strings.Contains(got.stdout, "unreachable") ||
		got.stderr != why {
		t.Errorf("then it lists %+v", got)
	}
	got = r.run(t, "", "ls --json")
	if !strings.Contains(got.stdout, `"refused": true`) || got.stderr != why ||
		strings.Contains(got.stdout, "unreachable") {
		t.Errorf("as JSON it lists %+v", got)
	}
}

func TestTopSaysThatAHostRefuses(t *testing.T) {
	r := newRunner(t)
	f := refusing{"", new(atomic.Bool)}
	r.Fleet = func() Fleet { return f }
	p := r.sits(t, Window{Cols: 160, Rows: 10}, "top")
	p.Sees("there")
	p.Sees("refused  ")
	p.Types("q")
	p.SeesAll()
	<-p.Status
}

func TestABrokenHostCannotFillTheMemory(t *testing.T) {
	var a Answer
	piece := make([]byte, 1<<20)
	for range MaxAnswer >> 20 {
		if _, err := a.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Write(piece[:1]); !errors.Is(err, ErrAnswer) {
		t.Errorf("more is kept: %v", err)
	}
	var s seen
	for i := range 20 {
		s.put("box", strings.Repeat("x", i), a.Bytes())
	}
	total := 0
	for _, list := range s.lists {
		total += len(list)
	}
	if total > maxSeenBytes || total != s.bytes {
		t.Errorf("%d bytes of lists are kept, counted as %d", total, s.bytes)
	}
}

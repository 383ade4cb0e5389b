package verbs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/sshd/viewertest"
)

// spaces are those between two columns.
var spaces = regexp.MustCompile(` {2,}`)

// detach has a person leave a terminal.
func detach(p *viewertest.Person) {
	p.Types(string(rune(prefix)) + "d")
	p.SeesAll()
	<-p.Status
}

func TestWhoWithoutANameIsAboutAllTerminals(t *testing.T) {
	r := newRunner(t)
	for want, command := range map[string]string{
		"nobody watches any terminal\n": "who",
		"[]\n":                          "who --json",
	} {
		if got := r.run(t, "", command); got.stdout+got.stderr != want || got.status != 0 {
			t.Errorf("%s without terminals: %+v", command, got)
		}
	}
	for _, name := range []string{"one", "two", "three"} {
		r.run(t, "", "new -d -n "+name+" -- sh -c 'echo ready; exec cat'")
	}
	first := r.sits(t, Window{Cols: 40, Rows: 10}, "attach one")
	first.Sees("ready")
	second := r.sits(t, Window{Cols: 50, Rows: 12}, "attach -r three")
	second.Sees("ready")
	var got outcome
	hosttest.Eventually(t, "both are listed", func() bool {
		got = r.run(t, "", "who")
		return strings.Count(got.stdout, "\n") == 3
	})
	lines := strings.Split(spaces.ReplaceAllString(got.stdout, "|"), "\n")
	for i, want := range []string{
		`^TERMINAL\|NAME\|ROLE\|HOW\|SINCE\|SIZE\|KEYBOARD$`,
		`^one\|uid:1000\|admin\|unix\|\d+s\|40x10\|`,
		`^three\|uid:1000\|admin\|unix\|\d+s\|50x12\|`,
	} {
		if !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("line %d is %q, want %s", i, lines[i], want)
		}
	}
	var all, one []map[string]any
	hosttest.Check(t, json.Unmarshal([]byte(r.run(t, "", "who --json").stdout), &all))
	hosttest.Check(t, json.Unmarshal([]byte(r.run(t, "", "who --json one").stdout), &one))
	if len(all) != 2 || len(one) != 1 || all[0]["terminal"] != "one" ||
		all[1]["terminal"] != "three" {
		t.Fatalf("as JSON they are %v and %v", all, one)
	}
	if _, has := all[0]["host"]; has {
		t.Error("a host that is alone says its name")
	}
	delete(all[0], "terminal")
	if a, b := fmt.Sprint(all[0]), fmt.Sprint(one[0]); a != b {
		t.Errorf("of all it is %s, of one %s", a, b)
	}
	detach(first)
	detach(second)
}

// town is a fleet of this host, "home", with others that answer `who --json`, or are silent.
type town struct {
	hostile
	answers map[string]string
}

func (f town) Hosts() (list []FleetHost) {
	for _, name := range []string{"box", "home", "silent", "zoo"} {
		_, answers := f.answers[name]
		list = append(list, FleetHost{Name: name, Self: name == "home", Door: name == "home",
			Reachable: answers || name == "home"})
	}
	return list
}

func (f town) Output(_ context.Context, _ Caller, host, line string) ([]byte, error) {
	if line != "who --json" {
		return nil, fmt.Errorf("%s is asked %q", host, line)
	}
	if f.answers[host] == "" {
		return nil, io.ErrUnexpectedEOF
	}
	return []byte(f.answers[host]), nil
}

// Whatever a host says, its rows are about its own terminals, and control nobody's.
func TestWhoWithoutANameListsTheWholeFleet(t *testing.T) {
	r := newRunner(t)
	r.run(t, "", "new -d -n one -- sh -c 'echo ready; exec cat'")
	p := r.sits(t, Window{Cols: 40, Rows: 10}, "attach one")
	p.Sees("ready")
	hosttest.Eventually(t, "one is watched", func() bool {
		return strings.Contains(r.run(t, "", "who").stdout, "one")
	})
	r.Fleet = func() Fleet {
		return &town{answers: map[string]string{
			"zoo": "",
			"box": `[{"terminal":"a","name":"ann","role":"admin","how":"ssh","holds":true},
			{"terminal":"../x"}, null, 1, {"name":"nothing"},
			{"host":"home","HOST":"zoo","terminal":"b","name":"bob\u001b[2J","how":"ws","new":1}]`,
		}}
	}
	got := r.run(t, "", "who")
	for _, want := range []string{`(?m)^HOST\|TERMINAL\|NAME\|ROLE\|HOW\|SINCE\|SIZE\|KEYBOARD$`,
		`(?m)^box\|a\|ann\|admin\|ssh\|.*\|-\|holds it$`, `(?m)^box\|b\|bob\[2J\|.*\|-$`,
		`(?m)^home\|one\|uid:1000\|admin\|unix\|`} {
		if !regexp.MustCompile(want).MatchString(spaces.ReplaceAllString(got.stdout, "|")) {
			t.Errorf("it prints %q, want %s", got.stdout, want)
		}
	}
	if n := strings.Count(got.stdout, "\n"); n != 4 || strings.ContainsRune(got.stdout, '\x1b') {
		t.Errorf("it prints %q", got.stdout)
	}
	const complaints = "silent is unreachable\nzoo: unexpected EOF\n"
	if got.stderr != complaints || got.status != 0 {
		t.Errorf("of silent hosts it says %q, and ends with %d", got.stderr, got.status)
	}
	got = r.run(t, "", "who --json")
	var list []map[string]any
	hosttest.Check(t, json.Unmarshal([]byte(got.stdout), &list))
	var where []string
	for _, w := range list {
		where = append(where, fmt.Sprint(w["host"], "/", w["terminal"]))
	}
	if all := strings.Join(where, " "); all != "box/a box/b home/one" || got.stderr != complaints {
		t.Errorf("as JSON there are %s, and %q", all, got.stderr)
	}
	if list[1]["new"] != 1.0 || list[1]["HOST"] != nil {
		t.Errorf("another host's row is %v", list[1])
	}
	detach(p)
}

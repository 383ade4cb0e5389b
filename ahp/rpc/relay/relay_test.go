package relay_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func compare(a, b string) int { return cmp.Compare(a, b) }

func TestADoorHasTheTerminalsOfAllHosts(t *testing.T) {
	w := newTown(t, "home", "box1", "box2")
	way := w.door("home")
	c := w.connect("home", way, ann)
	root := w.follow(c, ahp.RootURI)
	here := w.run(c, "ahp-terminal:/here", "read x; echo here $x; read x")
	there := w.run(c, "ahp-terminal://box1/there", "read x; echo there $x; exit 7")
	other := w.run(c, "ahp-terminal://box2/here", "read x; echo other $x; read x")
	w.lists(root, "all", has("ahp-terminal:/here", "ahp-terminal://box1/there",
		"ahp-terminal://box2/here"))
	for _, info := range root.Root().Terminals {
		want := map[string]string{"ahp-terminal:/here": "home", "ahp-terminal://box1/there": "box1",
			"ahp-terminal://box2/here": "box2"}[info.Resource]
		if info.Termhost.Host != want || info.Termhost.Unreachable != "" {
			t.Errorf("%s is of %q", info.Resource, info.Termhost.Host)
		}
	}
	if s := there.Terminal(); s.Claim.ClientID != c.ID() ||
		!contains(string(s.Meta), `"host":"box1"`) {
		t.Errorf("its state is %+v, with %s", s.Claim, s.Meta)
	}
	for _, m := range []struct {
		typed string
		err   error
	}{{"here", w.types(c, here, "a")}, {"there", w.types(c, there, "b")},
		{"other", w.types(c, other, "c")}} {
		if m.err != nil {
			t.Errorf("%s: %v", m.typed, m.err)
		}
	}
	w.sees(here, "here a")
	w.sees(there, "there b")
	w.sees(other, "other c")
	err := there.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool { return s.Exited })
	if s := there.Terminal(); err != nil || *s.ExitCode != 7 {
		t.Errorf("it ends with %v (%v)", s.ExitCode, err)
	}
	if err := c.DisposeTerminal(w.ctx, there.URI()); err != nil {
		t.Error(err)
	}
	w.lists(root, "without it", has("ahp-terminal:/here", "ahp-terminal://box2/here"))
}

// The snapshots of terminals of other hosts are a part of initialize's answer. What follows them
// has higher numbers.
func TestInitialSubscriptionsAreOfAllHosts(t *testing.T) {
	w := newTown(t, "home", "box1", "box2")
	way := w.door("home")
	maker := w.connect("home", way, ann)
	w.run(maker, "ahp-terminal:/here", "read x")
	for _, uri := range []string{"ahp-terminal://box1/a", "ahp-terminal://box1/b",
		"ahp-terminal://box2/a"} {
		w.run(maker, uri, "while echo busy; do sleep 0.05; done")
	}
	nc, err := hosttest.Dial(t, w.hosts["home"], ann, rpc.Options{Fleet: way})
	hosttest.Check(t, err)
	lines := bufio.NewReaderSize(nc, 1<<20)
	_, err = io.WriteString(nc, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","clientId":"c","protocolVersions":["1.0.0"],"initialSubscriptions":[`+
		`"ahp-terminal://box1/b","ahp-terminal:/here","ahp-terminal://box1/none","ahp-root://",`+
		`"ahp-terminal://box2/a","ahp-terminal://box1/a"]}}`+"\n")
	hosttest.Check(t, err)
	line, err := lines.ReadString('\n')
	hosttest.Check(t, err)
	var answer struct {
		Result struct {
			ServerSeq uint64
			Snapshots []ahp.Snapshot
		}
	}
	hosttest.Check(t, json.Unmarshal([]byte(line), &answer))
	var all []string
	for _, s := range answer.Result.Snapshots {
		all = append(all, s.Resource)
		if s.FromSeq != answer.Result.ServerSeq {
			t.Errorf("%s has %d of %d", s.Resource, s.FromSeq, answer.Result.ServerSeq)
		}
	}
	slices.Sort(all)
	if want := "[ahp-root:// ahp-terminal://box1/a ahp-terminal://box1/b " +
		"ahp-terminal://box2/a ahp-terminal:/here]"; fmt.Sprint(all) != want {
		t.Fatalf("there are %s", all)
	}
	last, of := answer.Result.ServerSeq, map[string]int{}
	for of["ahp-terminal://box1/a"] < 5 || of["ahp-terminal://box1/b"] < 5 ||
		of["ahp-terminal://box2/a"] < 5 {
		line, err := lines.ReadString('\n')
		hosttest.Check(t, err)
		var action struct{ Params ahp.Envelope }
		hosttest.Check(t, json.Unmarshal([]byte(line), &action))
		if action.Params.ServerSeq <= last {
			t.Fatalf("%d comes after %d", action.Params.ServerSeq, last)
		}
		last = action.Params.ServerSeq
		of[action.Params.Channel]++
	}
}

func TestATerminalIsMadeOnAHostWithLabels(t *testing.T) {
	w := newTown(t, "home", "box1", "box2")
	way := w.door("home")
	c := w.connect("home", way, ann)
	create := func(name, on string) (uri string, err error) {
		var made struct{ Channel string }
		err = c.Call(w.ctx, ahp.MethodCreateTerminal, map[string]any{
			"channel": "ahp-terminal:/" + name,
			"claim":   map[string]string{"kind": "client", "clientId": c.ID()},
			"_meta":   map[string]any{"termhost": map[string]any{"on": on}},
		}, &made)
		return made.Channel, err
	}
	for on, want := range map[string]string{"gpu=a100": "ahp-terminal://box1/a",
		"box2": "ahp-terminal://box2/a", "home": ""} {
		if uri, err := create("a", on); uri != want || err != nil {
			t.Errorf("on %s it is %q (%v)", on, uri, err)
		}
	}
	w.lists(w.follow(c, ahp.RootURI), "all", has("ahp-terminal:/a", "ahp-terminal://box1/a",
		"ahp-terminal://box2/a"))
	if _, err := create("b", "none"); err == nil || !contains(err.Error(), "no host that can be") {
		t.Errorf("on no host: %v", err)
	}
	way.Set(nil)
	if _, err := create("b", "box1"); err == nil || !contains(err.Error(), "no fleet") {
		t.Errorf("without a fleet: %v", err)
	}
}

func TestOfTwoDoorsOneGetsTheKeyboard(t *testing.T) {
	w := newTown(t, "home", "other", "box")
	home, other := w.door("home"), w.door("other")
	a1, a2 := w.connect("home", home, ann), w.connect("other", other, ann)
	b, d := w.connect("home", home, bob), w.connect("other", other, dan)
	uri := "ahp-terminal://box/t"
	m := w.run(a1, uri, "read x; echo got $x; read x")
	w.follow(b, uri)
	w.follow(d, uri)
	pass := func(c, to *client.Client) error {
		return c.Dispatch(w.ctx, uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(to.ID())})
	}
	for range 20 {
		second := make(chan error)
		go func() { second <- pass(a2, d) }()
		first := pass(a1, b)
		var refused *client.Rejected
		winner := b
		if first != nil {
			winner, first = d, <-second
		} else {
			first = <-second
		}
		if !errors.As(first, &refused) && winner == b || winner == d && first != nil {
			t.Fatalf("%v", first)
		}
		hosttest.Check(t, pass(winner, a1))
		hosttest.Check(t, m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool {
			return s.Claim.ClientID == a1.ID()
		}))
	}
}

func TestAnObserverOfADoorOnlyWatches(t *testing.T) {
	w := newTown(t, "home", "box")
	way := w.door("home")
	a, e := w.connect("home", way, ann), w.connect("home", way, eve)
	uri := "ahp-terminal://box/t"
	m := w.run(a, uri, "read x; echo got $x; read x")
	watched := w.follow(e, uri)
	for _, action := range []ahp.Action{ahp.TerminalInput{Data: []byte("no\r")},
		ahp.TerminalClaimed{Claim: ahp.ClientClaim(e.ID())}, ahp.TerminalResized{Cols: 9, Rows: 9}} {
		var refused *client.Rejected
		if err := e.Dispatch(w.ctx, uri, action); !errors.As(err, &refused) {
			t.Errorf("an observer's %s: %v", action.Type(), err)
		}
	}
	var refused *ahp.Error
	err := e.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: "ahp-terminal://box/mine"})
	if !errors.As(err, &refused) || refused.Code != ahp.CodeNotPermitted {
		t.Errorf("an observer makes a terminal: %v", err)
	}
	if err := e.DisposeTerminal(w.ctx, uri); !errors.As(err, &refused) ||
		refused.Code != ahp.CodeNotPermitted {
		t.Errorf("an observer ends a terminal: %v", err)
	}
	hosttest.Check(t, w.types(a, m, "yes"))
	w.sees(watched, "got yes")
}

// A guest was invited to terminals of the door's own host.
func TestAGuestSeesNothingOfOtherHosts(t *testing.T) {
	w := newTown(t, "home", "box")
	way := w.door("home")
	a := w.connect("home", way, ann)
	w.run(a, "ahp-terminal://box/t", "read x")
	guest := authz.Principal{ID: "guest:g", Name: "g", Role: authz.Operator, Guest: "g"}
	g := w.connect("home", way, guest)
	if list := w.follow(g, ahp.RootURI).Root().Terminals; len(list) > 0 {
		t.Errorf("it lists %+v", list)
	}
	var refused *ahp.Error
	if _, err := g.Subscribe(w.ctx, "ahp-terminal://box/t"); !errors.As(err, &refused) ||
		refused.Code != ahp.CodeNotFound {
		t.Errorf("it follows one: %v", err)
	}
}

func TestASilentHostIsToldAndGoesOn(t *testing.T) {
	slowtest.Skip(t) // a host counts as silent after ten seconds
	w := newTown(t, "home", "box")
	c := w.connect("home", w.door("home"), ann)
	root := w.follow(c, ahp.RootURI)
	uri := "ahp-terminal://box/t"
	m := w.run(c, uri, "while read x; do echo got $x; done")
	w.lists(root, "it", has(uri))
	w.change["box"] = nil
	wait, err := c.Start(w.ctx, ahp.MethodWait, map[string]any{"channel": uri,
		"for": map[string]any{"exit": true}}, nil)
	hosttest.Check(t, err)
	hosttest.Check(t, c.Ping(w.ctx))
	w.cut("box", true)
	w.lists(root, "that it is silent", func(list []ahp.TerminalInfo) bool {
		return len(list) == 1 && list[0].Termhost.Unreachable != "" && !list[0].Exited
	})
	for what, err := range map[string]error{
		"a request that waits": wait(w.ctx),
		"keys":                 w.types(c, m, "lost"),
		"a request":            c.DisposeTerminal(w.ctx, uri),
	} {
		if err == nil || !contains(err.Error(), "box is unreachable since 1") {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.cut("box", false)
	w.lists(root, "that it is back", func(list []ahp.TerminalInfo) bool {
		return len(list) == 1 && list[0].Termhost.Unreachable == ""
	})
	hosttest.Check(t, w.types(c, m, "after"))
	w.sees(m, "got after")
	if s := m.Terminal(); contains(client.Text(&s), "lost") || s.Exited {
		t.Errorf("it has %q", client.Text(&s))
	}
}

// A link that is lost is made again: nothing is missing, or there twice.
func TestALostLinkGoesOn(t *testing.T) {
	w := newTown(t, "home", "box")
	c := w.connect("home", w.door("home"), ann)
	m := w.run(c, "ahp-terminal://box/t", "while read x; do echo got $x; done")
	var all strings.Builder
	for i := range 12 {
		line := fmt.Sprint("line", i)
		if i%4 == 1 {
			w.lose("box")
		}
		for {
			err := w.types(c, m, line)
			if err == nil {
				break
			}
			// A key of which nobody knows is rejected only when it was not taken.
			if !contains(err.Error(), "lost") {
				t.Fatal(err)
			}
		}
		w.sees(m, "got "+line+"\r\n")
		fmt.Fprintf(&all, "%s\r\ngot %[1]s\r\n", line)
	}
	if s := m.Terminal(); client.Text(&s) != all.String() {
		t.Errorf("there is %q", client.Text(&s))
	}
	if w.dials["box"] < 4 {
		t.Errorf("there were %d links", w.dials["box"])
	}
}

// A removed host's terminals go.
func TestARemovedHostIsForgotten(t *testing.T) {
	w := newTown(t, "home", "box")
	c := w.connect("home", w.door("home"), ann)
	root := w.follow(c, ahp.RootURI)
	uri := "ahp-terminal://box/t"
	w.run(c, uri, "read x")
	w.lists(root, "it", has(uri))
	w.mu.Lock()
	w.gone["box"] = true
	w.mu.Unlock()
	w.lose("box")
	w.lists(root, "nothing", has())
	var refused *ahp.Error
	if _, err := c.Subscribe(w.ctx, uri); !errors.As(err, &refused) || refused.Code != ahp.CodeNotFound {
		t.Errorf("it is there: %v", err)
	}
}

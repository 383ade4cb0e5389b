package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/authz"
	"termhost/keys"
)

// What a program calls itself is part of a name that people read in lists and questions.
func TestAProgramsOwnNameNeverLooksLikeSomebodyElse(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"claude-infra":                         "carol/claude-infra",
		"9b2c1a7e-3f4d-4c5b-8a6e-0123456789ab": "carol/9b2c1a7e-3f4d-4c5b-8a6e-0123456789ab",
		"bob":                                  "carol/bob",
		"guest:dora":                           "carol/guest_dora",
		"bob/page":                             "carol/bob_page",
		"../you":                               "carol/.._you",
		"x (inside a terminal)":                "carol/x_inside_a_terminal_",
		"x#2":                                  "carol/x_2",
		"page":                                 "carol/page_",
		"PAGE":                                 "carol/PAGE_",
		"page#2":                               "carol/page_2",
		"\x1b[31mroot\x07\r\n":                 "carol/_31mroot_",
		"bob\u202e\u2066nna":                   "carol/bob_nna",
		"рage":                                 "carol/_age", // a Cyrillic letter
		"a\xff\xfeb":                           "carol/a_b",
		" ":                                    "carol/_",
		strings.Repeat("a", 256):               "carol/" + strings.Repeat("a", 44) + "…",
		strings.Repeat("é", 128):               "carol/_",
	} {
		if got := connect(t, hosttest.New(t), carol, id).c.Name(); got != want {
			t.Errorf("%q is called %q, want %q", id, got, want)
		}
	}
}

// A person's key is also the key of programs that came in with it: what those do is not done by
// the person.
func TestAProgramOnAPersonsKeyIsNotThePerson(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	const name = "carol/claude-infra"
	agent := connect(t, h, carol, "claude-infra")
	events, err := agent.c.Events()
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	uri := agent.create("x", "/bin/sh", "-c", "exec cat")
	term := lookup(h, uri)
	v, boss := attach(t, h, carol, "x", window), attach(t, h, alice, "x", window)

	if info := term.Info(carol); info.Mine || info.Holder != name {
		t.Errorf("its person lists it as held by %q, its own: %t", info.Holder, info.Mine)
	}
	var listed struct {
		Claim struct{ Kind, ClientID, Holder string }
	}
	if err := json.Unmarshal([]byte(asJSON(t, term.Info(carol))), &listed); err != nil ||
		listed.Claim != (struct{ Kind, ClientID, Holder string }{"client", "claude-infra", name}) {
		t.Errorf("as JSON it is held by %+v, %v", listed.Claim, err)
	}
	if got := agent.subscribe(uri).Termhost.Holder; got != name {
		t.Errorf("in AHP it is held by %q", got)
	}
	wantReason := "input needs the claim; claimed by " + name
	other := connect(t, h, bot, "b")
	if got := other.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got != wantReason {
		t.Errorf("another agent is told %q", got)
	}

	// The claim comes and goes: its person is told of the program, too.
	boss.types("k")
	if got := boss.a.Took(); got != name {
		t.Errorf("the keyboard was taken from %q", got)
	}
	if got := v.noted(); got != (host.Note{Kind: host.NoteHas, To: "alice"}) {
		t.Errorf("told %+v", got)
	}
	if to, err := boss.handBack(); to != name || err != nil {
		t.Errorf("handed back to %q, %v", to, err)
	}
	if got := v.noted(); got != (host.Note{Kind: host.NoteHandedBack, Who: "alice", To: name}) {
		t.Errorf("told %+v", got)
	}
	boss.types("k")
	v.noted()
	if asked, e := agent.c.Ask(term, nil); e != nil || asked.Holder != "alice" {
		t.Fatal(asked, e)
	}
	if got := boss.noted(); got != (host.Note{Kind: host.NoteAsked, Who: name, First: name, To: ""}) {
		t.Errorf("the holder is told %+v", got)
	}
	if to, err := boss.giveAsked(); to != name || err != nil {
		t.Errorf("given to %q, %v", to, err)
	}
	if got := v.noted(); got != (host.Note{Kind: host.NoteGiven, Who: "alice", To: name}) {
		t.Errorf("told %+v", got)
	}

	if e := rpc.DisposeTerminal(agent.c, uri); e != nil {
		t.Fatal(e)
	}
	if got := term.EndedBy(); got != "by "+name {
		t.Errorf("ended %s", got)
	}
	for _, e := range events.Pull(nil, 100) {
		for _, who := range []string{e.By, e.To} {
			switch who {
			case "", name, "alice":
			case "carol":
				if e.Kind != host.EventAttached {
					t.Errorf("an event: %s by %q, to %q", e.Kind, e.By, e.To)
				}
			default:
				t.Errorf("an event: %s by %q, to %q", e.Kind, e.By, e.To)
			}
		}
	}
}

func TestWhatAProgramOnAPersonsKeyAsksIsAskedByTheProgram(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent := connect(t, h, carol, "claude-infra")
	uri := agent.create("x", "/bin/sh", "-c", "exec cat")
	term := lookup(h, uri)
	person := attach(t, h, carol, "x", window)
	if err := person.c.SetGuard(term, true); err != nil {
		t.Fatal(err)
	}
	agent.c.Dispatch(uri, 1, ahp.TerminalInput{Data: []byte("ls\r")})
	if is, ok := person.a.Asking(); !ok || is.By != "carol/claude-infra" {
		t.Errorf("its person is asked by %q, %v", is.By, ok)
	}
	asks, known := door(t, h, alice, host.DoorWebSocket).ReadableAsks(uri)
	if !known || len(asks) != 1 || asks[0].By != "carol/claude-infra" {
		t.Errorf("its asks are %+v", asks)
	}
}

// The clients of a token have its name; a second one that is there at the same time has a number.
func TestTwoOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	names := func(list ...*peer) (names []string) {
		for _, p := range list {
			names = append(names, p.c.Name())
		}
		return names
	}
	first, second := connect(t, h, bot, "one"), connect(t, h, bot, "two")
	if got := names(first, second); !slices.Equal(got, []string{"alice/bot", "alice/bot#2"}) {
		t.Errorf("a token's are called %q", got)
	}
	uri := second.create("x", "/bin/sh", "-c", "exec cat")
	if got := lookup(h, uri).Info(alice).Holder; got != "alice/bot#2" {
		t.Errorf("the second one's is held by %q", got)
	}
	first.c.Close()
	if got := names(connect(t, h, bot, "three")); got[0] != "alice/bot" {
		t.Errorf("the number of one who has left goes to %q", got)
	}
	// A program on the person's key may not pass for the token, nor one for another.
	squatter := connect(t, h, alice, "bot")
	plain, other := connect(t, h, carol, "a b"), connect(t, h, carol, "a_b")
	got := names(squatter, plain, other)
	if !slices.Equal(got, []string{"alice/bot#3", "carol/a_b", "carol/a_b#2"}) {
		t.Errorf("they are called %q", got)
	}
}

func TestNamesAreTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	first, second := connect(t, h, bot, "one"), connect(t, h, bot, "two")
	agent := connect(t, h, carol, "claude infra")
	held := second.create("held", "/bin/sh", "-c", "exec cat")
	agent.create("mine", "/bin/sh", "-c", "exec cat")
	made := listen(t, h, eve)
	_, err := hosttest.Create(h, carol, host.CreateOptions{Name: "work", Argv: []string{"cat"},
		Claim: sessionClaim, Agent: "gemini"})
	if err != nil {
		t.Fatal(err)
	}
	if e := made.until(host.EventCreated); e.By != "carol/gemini" {
		t.Errorf("work was made by %q", e.By)
	}
	want := [3]string{"alice/bot#2", "carol/claude_infra", "carol/gemini"}
	holders := func(h *host.Host) (got [3]string) {
		for i, name := range []string{"held", "mine", "work"} {
			got[i] = find(t, h, name).Info(carol).Holder
		}
		return got
	}
	if got := holders(h); got != want {
		t.Fatalf("held by %q", got)
	}
	h = after(t, killed(t, h))
	if got := holders(h); got != want {
		t.Errorf("after a restart they are held by %q", got)
	}
	// Whoever comes first does not get another's name.
	for _, p := range []struct {
		of   *peer
		id   string
		want string
	}{{second, "two", "alice/bot#2"}, {nil, "four", "alice/bot#3"}, {first, "one", "alice/bot"}} {
		if got := connect(t, h, bot, p.id).c.Name(); got != p.want {
			t.Errorf("%s is called %q, want %q", p.id, got, p.want)
		}
	}
	if lookup(h, held) == nil {
		t.Error("a terminal is gone")
	}
}

// A process inside a terminal may be an agent's, whatever key it has.
func TestAProcessInsideATerminalIsNotYou(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	inside := carol
	inside.Inside = true
	const name = "carol (inside a terminal)"
	term, err := hosttest.Create(h, inside, host.CreateOptions{Name: "x", Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := term.Info(carol); got.Mine || got.Holder != name {
		t.Errorf("it is held by %q", got.Holder)
	}
	v := attach(t, h, carol, "x", window)
	if err := v.a.Claim(); err != nil {
		t.Fatal(err)
	}
	if got := term.Info(carol); !got.Mine {
		t.Errorf("its person took it, and it is held by %q", got.Holder)
	}
	if to, err := v.handBack(); to != name || err != nil {
		t.Errorf("handed back to %q, %v", to, err)
	}
}

func TestAGuestIsNamedWithAndWithoutItsPrefix(t *testing.T) {
	t.Parallel()
	// The same name is somebody else's, who need not watch.
	dora := hosttest.Principal("dora", authz.Operator)
	const nobody, elsewhere, watches = "nobody", "elsewhere", "watches"
	for _, c := range []struct{ other, who, want string }{
		{nobody, "dora", "guest:dora"},
		{nobody, "guest:dora", "guest:dora"},
		{nobody, "guest:dora/client", "guest:dora/client"},
		{elsewhere, "dora", ""},
		{watches, "dora", ""},
		{watches, dora.ID, "dora"},
		{watches, "guest:dora", "guest:dora"},
	} {
		h := hosttest.New(t, func(c *host.Config) {
			c.Authority = hosttest.Authority(t, keys.Options{StateDir: t.TempDir()})
		})
		term := run(t, h, alice, "x", "exec cat")
		guest := guestOf(term, "dora", authz.Operator)
		views := []*viewer{attach(t, h, guest, "x", host.AttachOptions{})}
		connect(t, h, guest, "client").subscribe(term.URI())
		switch c.other {
		case elsewhere:
			door(t, h, dora, host.DoorSSH)
		case watches:
			views = append(views, attach(t, h, dora, "x", host.AttachOptions{}))
		}
		name, n, err := door(t, h, alice, host.DoorSSH).Kick(term, c.who)
		if c.want != "" {
			if name != c.want || n != 1 || err != nil {
				t.Errorf("with another %s, %s means %q, %d times, %v", c.other, c.who, name, n, err)
			}
			continue
		}
		// Then nobody is meant.
		var two *host.AmbiguousNameError
		want := fmt.Sprintf("%q may be dora (%s) or guest:dora; say which", "dora", dora.ID)
		if n != 0 || !errors.As(err, &two) || err.Error() != want {
			t.Errorf("with another %s, kicked %q, %d, %v", c.other, name, n, err)
		}
		for _, v := range views {
			select {
			case <-v.a.Kicked():
				t.Errorf("with another %s, a view has ended", c.other)
			default:
			}
		}
	}
}

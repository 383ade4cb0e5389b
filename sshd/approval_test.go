package sshd

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// agentOf connects an agent with a token of alice's, and makes it the holder of work.
func (r *rig) agentOf() (send func(text string) <-chan error) {
	r.t.Helper()
	id := r.fingerprint("alice")
	who := authz.Principal{ID: id + "/claude", Name: "alice/claude", Role: authz.Admin,
		Fingerprint: id, Token: "claude"}
	c, err := r.host.Connect(who, host.DoorSSH)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	work, err := hosttest.Find(r.host, who, "work")
	if err != nil {
		r.t.Fatal(err)
	}
	return func(text string) <-chan error {
		answer := make(chan error, 1)
		go func() { answer <- c.Send(context.Background(), work, []byte(text)) }()
		return answer
	}
}

// People at two windows are asked; the first answer counts, and the question leaves no trace.
func TestPeopleApproveWhatAnAgentTypes(t *testing.T) {
	t.Parallel()
	const cols, rows = 60, 12
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; "+
		`printf '\033[44;1mblue\033[K\r\n\033[0;31m界界界界\r\n\033[m\033[10;3Hready'; exec cat -v`)
	send := r.agentOf()
	a := r.open(r.dial("alice"), cols, rows, "attach work")
	a.sees("ready")
	e := r.open(r.dial("eve"), cols, rows, "attach work")
	e.sees("ready")
	b := r.open(r.dial("alice"), cols, rows, "attach work")
	b.sees("ready")
	want := e.shows(cols, rows)

	answer := send("rm \x1b[2J\u202e\r")
	for _, p := range []*person{a, b} {
		p.sees("alice/claude wants to type 1 line and run it")
		p.sees("1 rm \x1b[0;1m^[\x1b[0;7m[2J\x1b[0;1m<U+202E>\x1b[0;7m\x1b[0;1m^M")
		p.sees("y types it")
	}
	if strings.Contains(e.out.all(), "wants to type") {
		t.Error("an observer is asked")
	}
	b.typesTooSoon("xn") // may be letters of a word: they go nowhere
	b.sees("y types it")
	b.typeIn("n")
	if err := <-answer; err == nil || err.Error() != "refused by alice" {
		t.Errorf("the agent is told %v", err)
	}
	a.sees("alice refused what alice/claude wanted to type")
	a.typeIn("\x1c?q") // which takes the notice's place
	for _, p := range []*person{a, b} {
		hosttest.Eventually(t, "the screen is as if nothing had lain over it", func() bool {
			return bytes.Equal(p.shows(cols, rows), want)
		})
	}

	answer = send("yes,")
	a.sees("1 yes,")
	a.sees("y types it")
	a.typeIn("y")
	if err := <-answer; err != nil {
		t.Errorf("approved, the agent is told %v", err)
	}
	e.sees("yes,")
	answer = send("edit\tme\x03\r")
	a.sees("1 edit\x1b[0;1m^I\x1b[0;7mme\x1b[0;1m^C\x1b[0;7m\x1b[0;1m^M")
	a.sees("y types it")
	a.typeIn("e")
	if err := <-answer; err == nil || err.Error() != "taken by alice, who edits it" {
		t.Errorf("edited, the agent is told %v", err)
	}
	e.sees("edit\tme")
	answer = send("later")
	b.sees("1 later")
	b.sees("y types it")
	b.typeIn("\x1b[27u")
	b.sees(`it still waits for you; Ctrl-\ n shows it again`)
	b.typeIn("\x1c\x1b[27u\x1cn") // Escape takes back the prefix
	b.sees("1 later")
	b.typeIn("\x1cg")
	b.sees("work is not guarded: agents type without asking")
	if err := <-answer; err == nil {
		t.Error("what was held is typed because the guard was turned off")
	}
	a.sees("no longer asks: the guard was turned")
	if all := b.out.all(); strings.Contains(all, "no longer asks: the guard") {
		t.Error("whoever turns the guard off is told that somebody did")
	}
	if got := r.screen(); strings.Contains(got, `^\`) || strings.Contains(got, "^[") {
		t.Errorf("the program was typed %q", got)
	}
}

func TestVerbsOfApprovalNameTheRule(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("bob", "", "new -d --guard -n work -- stty raw -echo; printf ready; exec cat -v")
	r.ssh("alice", "shared\n", "share -n client --cols 80 --rows 24")
	send := r.agentOf()
	answer := send("deploy\r")
	hosttest.Eventually(t, "it is held", func() bool {
		return strings.Contains(r.ssh("eve", "", "ls").stdout, "waits: approval")
	})
	for command, want := range map[string]string{
		"eve approve work":          "not permitted: observers may only look",
		"carol refuse work":         "only whoever has the keyboard, the key of the agent's token, or an admin decides what agents type",
		"carol guard work off":      "only whoever has the keyboard, the key of the agent's token, or an admin decides what agents type",
		"alice guard client":        "client-executed terminals are observation-only",
		"alice guard work no":       "say on or off, not no",
		"alice refuse work @2x why": "an ask is called @N, as `asks` prints it, not @2x",
		"alice approve work @":      "an ask is called @N, as `asks` prints it, not @",
		"alice approve nowhere":     `there is no terminal "nowhere"`,
	} {
		who, command, _ := strings.Cut(command, " ")
		got := r.ssh(who, "", command)
		if got.status == 0 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %s: %+v", who, command, got)
		}
	}
	got := r.ssh("alice", "", "approve work")
	if got.status == 0 || !strings.Contains(got.stderr,
		"you have not been shown what agents want to type in work: run asks first") {
		t.Errorf("approved unread: %+v", got)
	}
	for _, command := range []string{"asks", "asks work", "asks --json"} {
		got := r.ssh("eve", "", command)
		if strings.Contains(got.stdout+got.stderr, "deploy") || got.status != 0 || !strings.Contains(
			got.stderr, "agents want to type something in work that you may not read") ||
			strings.Contains(got.stderr, "nothing") {
			t.Errorf("%s: an observer reads %+v", command, got)
		}
	}
	if got := r.ssh("eve", "", "asks client"); !strings.Contains(got.stderr, "nothing is waiting for an answer") {
		t.Errorf("of a terminal without any: %+v", got)
	}
	if got := r.ssh("alice", "", "asks").stdout; !strings.Contains(got, "deploy^M") ||
		!strings.Contains(got, "@1") || !strings.Contains(got, "runs") {
		t.Errorf("asks: %q", got)
	}
	got = r.ssh("alice", "", "refuse work not on a Friday")
	if got.status != 0 || !strings.Contains(got.stderr, "refused alice/claude: deploy^M") {
		t.Errorf("refuse: %+v", got)
	}
	if err := <-answer; err == nil || err.Error() != "refused by alice: not on a Friday" {
		t.Errorf("the agent is told %v", err)
	}
	got = r.ssh("alice", "", "approve work")
	if got.status == 0 || !strings.Contains(got.stderr,
		"nothing is waiting for an answer in work; the last was refused by alice: not on a Friday") {
		t.Errorf("approve: %+v", got)
	}
	if got := r.screen(); got != "ready" {
		t.Errorf("the program was typed %q", got)
	}
}

// Somebody who looks back is told that an agent asks, and sees the question when they return.
func TestAQuestionWaitsForAPersonWhoLooksBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf ready; exec cat -v")
	send := r.agentOf()
	a := r.open(r.dial("alice"), 60, 12, "attach work")
	a.sees("ready")
	a.typeIn("\x1c[")
	a.sees("work: lines 1 to 1 of 1")
	answer := send("make\r")
	a.sees("an agent asks: q shows it")
	if strings.Contains(a.out.all(), "wants to type") {
		t.Error("the question lies over what is read")
	}
	a.typeIn("q")
	a.sees("alice/claude wants to type 1 line and run it")
	a.sees("y types it")
	a.typeIn("y")
	if err := <-answer; err != nil {
		t.Error(err)
	}
	a.sees("make^M")
}

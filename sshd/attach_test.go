package sshd

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// resize tells the host of a new window.
func (p *person) resize(cols, rows int) {
	p.t.Helper()
	if err := p.s.WindowChange(rows, cols); err != nil {
		p.t.Fatal(err)
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	p.out.shown.screen.Resize(cols, rows)
}

func TestTheHoldersWindowIsTheTerminals(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "eve": asObserver}})
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- trap 'echo now $(stty size)' WINCH; "+
		"echo set-$((1+1)); while :; do sleep 0.05; done")
	p.sees("set-2")
	e := r.open(r.dial("eve"), 40, 10, "attach work")
	e.sees("set-2")
	p.resize(90, 28)
	e.sees("now 28 90") // drawn for a window that is smaller
	p.resize(40, 10)
	p.sees("now 10 40")
	e.sees("now 10 40") // of the same size by now
	e.resize(30, 8)
	p.resize(100, 30)
	p.sees("now 30 100")
	e.sees("now 30 100")
	if strings.Contains(p.out.all(), "now 8 30") {
		t.Error("a viewer resized the holder's terminal")
	}
}

func TestAnObserverIsToldOnceThatItMayOnlyLook(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "eve": asObserver}})
	p := r.open(r.dial("alice"), 80, 24, "new -n work")
	p.typeIn("echo set-$((1+1))\r")
	p.sees("set-2")
	e := r.open(r.dial("eve"), 80, 24, "attach work")
	e.sees("set-2")
	for range 20 {
		e.typeIn("x")
	}
	e.sees("observers may only look")
	p.typeIn("echo and-$((1+2))\r")
	e.sees("and-3")
	if n := strings.Count(e.out.all(), "\x1b[2Ktermhost: observers may only look"); n == 0 {
		t.Errorf("the notice is not a line of its own: %q", e.out.all())
	}
	if strings.Contains(p.out.all(), "xx") {
		t.Error("an observer typed")
	}
}

func TestAnAdminSeizesWithTheFirstKeyAndHandsBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	p := r.open(r.dial("bob"), 80, 24, "new -n work")
	p.typeIn("echo bob-$((1+1))\r")
	p.sees("bob-2")
	a := r.open(r.dial("alice"), 80, 24, "attach work")
	a.sees("bob-2")
	a.typeIn("echo alice-$((1+1))\r")
	a.sees("alice-2")
	p.typeIn("x")
	p.sees("alice has the keyboard; ask with Ctrl-\\ a, or an admin can take it")
	a.typeIn("\x1cr")
	a.sees("handed back to bob")
	p.typeIn("echo again-$((1+2))\r")
	p.sees("again-3")
}

func TestPrefixKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	p := r.open(c, 80, 24, "new -n work -- stty raw -echo; echo ready; cat -v")
	p.sees("ready")
	p.typeIn("a\x1cb") // an unknown key is not typed, and neither is the prefix
	p.sees("termhost: no such key after Ctrl-\\: it was not typed; Ctrl-\\ ? shows the keys")
	p.typeIn("\x1c\x1cz")
	p.sees("a^\\z")
	p.typeIn("\x1b[200~\x1cd\x1b[201~")
	p.sees("^[[200~^\\d^[[201~") // pasted: no key
	p.typeIn("\x1c")
	p.sees("you have the keyboard:  d detach  c take it") // the prefix alone shows its keys
	p.typeIn("?")
	p.sees("Any key closes this.")
	p.typeIn("q") // closes the help and is not sent
	p.typeIn("\x1cl")
	p.sees("* work")
	p.typeIn("\x1b")
	p.typeIn("\x1cc")
	p.sees("you have the keyboard")
	p.typeIn("end")
	p.sees("end")
	if screen := r.ssh("alice", "", "peek work").stdout; strings.Contains(screen, "q") {
		t.Errorf("a key that closed something was sent on: %q", screen)
	}
	p.typeIn("\x1b[92;5ud") // as a terminal that speaks kitty's protocol sends the prefix
	if got := p.status(); got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestThePrefixCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.NoPrefix = true }})
	p := r.open(r.dial("alice"), 80, 24, "new -- stty raw -echo; echo ready; cat -v")
	p.sees("ready")
	p.typeIn("\x1cd")
	p.sees("^\\d")
}

func TestReadOnlyAttachTypesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	p := r.open(c, 80, 24, "new -n work -- stty raw -echo; echo ready; cat -v")
	p.sees("ready")
	v := r.open(c, 80, 24, "attach -r work")
	v.sees("ready")
	v.typeIn("nothing")
	v.sees("this attach is read-only")
	p.typeIn("mine")
	v.sees("mine")
	if strings.Contains(p.out.all(), "nothing") {
		t.Error("a read-only attach typed")
	}
}

func TestAReadOnlyAttachWithoutPtyIsAStream(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- echo one; echo two; until test -e "+r.path("go")+
		"; do sleep 0.05; done; echo three; exit 4")
	attached := make(chan outcome, 1)
	go func() { attached <- r.ssh("alice", "", "attach -r work") }()
	hosttest.Eventually(t, "it is attached", func() bool {
		return strings.Contains(r.ssh("alice", "", "ls --json").stdout, `"viewers": 1`)
	})
	r.write("go", "")
	got := <-attached
	if got.stdout != "one\ntwo\nthree\n" || got.stderr != "" || got.status != 4 {
		t.Errorf("got %+v", got)
	}
	got = r.ssh("alice", "", "attach work")
	if got.status != 2 || !strings.Contains(got.stderr, "ssh -t") {
		t.Errorf("without -r: %+v", got)
	}
}

func TestAttachingToAnExitedTerminalShowsItAndItsStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n gone -- echo last words; exit 9")
	if got := r.ssh("alice", "", "wait gone"); got.status != 9 {
		t.Errorf("wait: %+v", got)
	}
	p := r.open(r.dial("alice"), 80, 24, "attach gone")
	p.sees("last words")
	p.sees("[gone exited with status 9, ")
	p.sees(" ago; `ssh HOST rm gone` removes it]\r\n")
	if got := p.status(); got != 9 {
		t.Errorf("status %d, want 9", got)
	}
}

func TestLosingTheConnectionDetaches(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	p := r.open(c, 80, 24, "")
	p.typeIn("KEPT=yes; echo ready-$KEPT\r")
	p.sees("ready-yes")
	c.Close()
	r.empties()
	c = r.dial("alice")
	p = r.open(c, 80, 24, "")
	p.sees("1 terminal is running: ")
	p.typeIn("exit\r")
	p.status()
	p = r.open(c, 80, 24, "attach")
	p.typeIn("echo back-$KEPT\r")
	p.sees("back-yes")
}

func TestTwoViewersSeeTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	a := r.open(r.dial("alice"), 80, 24, "new -n work")
	a.typeIn("echo up-$((1+1))\r")
	a.sees("up-2")
	b := r.open(r.dial("bob"), 80, 24, "attach work")
	agent, reqs := rawSession(t, r.dial("bob"))
	if !request(t, agent, "subsystem", stringMsg{"ahp"}) {
		t.Fatal("the subsystem was refused")
	}
	seen := newTranscript()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(seen, agent)
	}()
	io.WriteString(agent, `{"jsonrpc":"2.0","id":1,"method":"initialize",`+
		`"params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"bobs-agent",`+
		`"initialSubscriptions":["ahp-terminal:/work"]}}`+"\n")
	if _, ok := seen.await(`"id":1,"result"`); !ok {
		t.Fatalf("initialize: %s", seen.all())
	}
	a.typeIn("echo all-$((1+1))\r")
	a.sees("all-2")
	b.sees("all-2")
	if _, ok := seen.await("all-2"); !ok {
		t.Errorf("the agent saw %s", seen.all())
	}
	agent.CloseWrite()
	<-copied
	for req := range reqs {
		if req.Type == "exit-status" && string(req.Payload) != "\x00\x00\x00\x00" {
			t.Errorf("the subsystem ended with %q", req.Payload)
		}
	}
}

func TestAnInterruptGetsThroughToAProgramThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	// A shell runs its trap when the command in front of it has ended. So it is that command that
	// says ready.
	p := r.open(r.dial("alice"), 80, 24,
		"new -- trap 'echo caught; exit 3' INT; sh -c 'echo ready; exec sleep 1000'")
	p.sees("ready")
	junk := strings.Repeat(strings.Repeat("x", 1000)+"\r", 1200)
	p.typeIn(junk + "\x03")
	if got := p.status(); got != 3 && got != 130 {
		t.Errorf("status %d", got)
	}
}

func TestSignalsReachTheProgramInTheForeground(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24,
		"new -- trap 'echo got-usr1' USR1; echo ready; while :; do sleep 0.05; done")
	p.sees("ready")
	if err := p.s.Signal(gossh.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	p.sees("got-usr1")
}

func TestInterruptDuringAFloodWorksAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, "")
	p.typeIn("yes 0123456789abcdef\r")
	p.sees("0123456789abcdef\r\n0123456789abcdef")
	slowtest.Hurry(t)
	p.typeIn("\x03")
	p.typeIn("echo after-$((40+2))\r")
	p.sees("after-42")
}

// The real client on a real terminal.
func TestOpenSSHOnATerminal(t *testing.T) {
	r := newRig(t, rigOptions{})
	cmd := exec.Command("ssh", append([]string{"-tt"}, r.sshArgs("alice")...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_TEST=accepted")
	cmd.Args = append(cmd.Args[:len(cmd.Args)-1], "-o", "SendEnv=LC_TEST", cmd.Args[len(cmd.Args)-1])
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 91, Rows: 33}) // no other test runs
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	out := newTranscript()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(out, tty)
	}()
	sees := func(text string) {
		t.Helper()
		if rest, ok := out.await(text); !ok {
			t.Fatalf("never saw %q: %q", text, rest)
		}
	}
	typeIn := func(text string) {
		t.Helper()
		if _, err := io.WriteString(tty, text); err != nil {
			t.Fatal(err)
		}
	}
	typeIn("echo $(stty size) $LC_TEST $(test $SSH_TTY = $(tty) && echo ${SSH_CONNECTION%% *})\r")
	sees("33 91 accepted 127.0.0.1\r\n")
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 70, Rows: 20}); err != nil {
		t.Fatal(err)
	}
	typeIn("until [ \"$(stty size)\" = '20 70' ]; do sleep 0.02; done; echo resized-$((1+1))\r")
	sees("resized-2")
	typeIn("\x1cd")
	sees("goes on running")
	if err := cmd.Wait(); err != nil {
		t.Errorf("ssh ended with %v", err)
	}
	<-copied
}

// A clear by an agent leaves an attached person with the prompt, at the top of the screen.
func TestAClearKeepsThePromptForThoseWhoAreAttached(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, "new -n work")
	p.typeIn("PS1='prompt> '; echo out-$((1+1))\r")
	p.sees("out-2")
	p.sees("prompt> ")
	id := r.fingerprint("alice")
	who := authz.Principal{ID: id, Name: "alice", Role: authz.Admin, Fingerprint: id}
	hc, err := r.host.Connect(who, host.DoorSubsystem)
	if err != nil {
		t.Fatal(err)
	}
	defer hc.Close()
	if _, e := hc.Initialize(ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: "agent",
	}); e != nil {
		t.Fatal(e)
	}
	if !hc.Dispatch(ahp.TerminalURI("work"), 1, ahp.TerminalCleared{}) {
		t.Fatal("the clear was refused")
	}
	term, err := hosttest.Find(r.host, who, "work")
	if err != nil {
		t.Fatal(err)
	}
	shows := func(want string) {
		t.Helper()
		hosttest.Eventually(t, "both screens show "+want, func() bool {
			seen := vt.New(80, 24, vt.Options{})
			seen.Feed([]byte(p.out.all()), nil)
			got := strings.TrimRight(string(seen.AppendText(nil, false)), "\n")
			screen, err := hosttest.Peek(r.host, who, term, false)
			return err == nil && got == want && strings.TrimRight(string(screen), "\n") == want
		})
	}
	shows("prompt>")
	p.typeIn("echo more\r")
	shows("prompt> echo more\nmore\nprompt>")
}

// A viewer that must be drawn for is sent what has changed, at each key.
func TestAKeyCostsAViewerWithAnotherWindowLittle(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "eve": asObserver}})
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- seq -f 'line %.0f of a full screen of output' 40; cat")
	p.sees("line 40 ")
	e := r.open(r.dial("eve"), 100, 40, "attach work")
	e.sees("line 40 ")
	p.typeIn("0")
	e.sees("H0") // in the row below the lines, by itself or with the whole screen
	before := len(e.out.all())
	const keys = 20
	for i := range keys {
		p.typeIn("x")
		e.sees("0" + strings.Repeat("x", i+1))
	}
	if n := (len(e.out.all()) - before) / keys; n > 60 {
		t.Errorf("a key costs %d bytes; a whole screen has more than 1000", n)
	}
}

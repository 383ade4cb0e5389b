package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/hosttest"
	"termhost/ahp/transport"
	"termhost/cmd/termhost/config"
)

// wiretap reads what the host sends, over all connections of a client.
type wiretap struct {
	transport.Transport
	*tapped
}

// tapped is what a wiretap has read.
type tapped struct {
	mu      sync.Mutex
	seqs    []uint64 // of the actions
	replays []replayed
	data    map[string]string // by channel: of terminal/data, which a client hands to its emulator
}

// replayed is the answer to a reconnect.
type replayed struct {
	Type    string
	Actions []struct {
		ServerSeq uint64
		Channel   string
		Action    tappedAction
	}
	Missing []string
}

type tappedAction struct{ Type, Data string }

func (w wiretap) Read() ([]byte, error) {
	msg, err := w.Transport.Read()
	if err != nil {
		return msg, err
	}
	var m struct {
		Method string
		Params struct {
			ServerSeq uint64
			Channel   string
			Action    tappedAction
		}
		Result replayed
	}
	if err := json.Unmarshal(msg, &m); err != nil {
		return msg, nil // the client says what it is
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.data == nil {
		w.data = map[string]string{}
	}
	if m.Method == "action" {
		w.seqs = append(w.seqs, m.Params.ServerSeq)
		w.data[m.Params.Channel] += m.Params.Action.Data
	}
	if m.Result.Type != "" {
		w.replays = append(w.replays, m.Result)
		for _, a := range m.Result.Actions {
			w.seqs = append(w.seqs, a.ServerSeq)
			w.data[a.Channel] += a.Action.Data
		}
	}
	return msg, nil
}

// TestAnAHPClientGoesOnAtTheNextHost: a client that reconnects with its clientId and the serverSeq
// that it has seen last has the state that the new host has, whether or not the log holds all that
// happened meanwhile.
func TestAnAHPClientGoesOnAtTheNextHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		how          syscall.Signal
		lines        int // that are printed while there is no host
		compared     int // how many bytes at the end of the output are; 0: all
	}{
		{"killed", "", syscall.SIGKILL, 100, 0},
		{"stopped", "", syscall.SIGTERM, 100, 0},
		{"with too short a log", "\nterminal.log_bytes = \"128KiB\"\n" +
			"terminal.scrollback_bytes = \"64KiB\"\n", syscall.SIGKILL, 60_000,
			8 << 10}, // of the beginning the host keeps less and less
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start, state, do := keptHost(t, c.config)
			h := start()
			away := make(chan struct{}) // closed when clients may connect again
			tap := &tapped{}
			a, states := connectTapped(t, state, "", tap, away)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			follow := func(who *client.Client, name string) *client.Mirror {
				m, err := who.Subscribe(ctx, ahp.TerminalURI(name))
				hosttest.Check(t, err)
				return m
			}
			file := filepath.Join(t.TempDir(), "file")
			for name, line := range map[string]string{
				"runs": fmt.Sprintf("echo first; until [ -e %[1]s.0 ]; do sleep 0.02; done; echo second; until [ -e %[1]s ]; do sleep 0.02; done; seq 1 %[2]d; "+
					"printf '\\033]0;away\\007'; > %[1]s.2; read x; echo got $x; exit 7", file, c.lines),
				"ends": fmt.Sprintf("echo first; until [ -e %[1]s.0 ]; do sleep 0.02; done; echo second; "+
					"until [ -e %[1]s ]; do sleep 0.02; done; echo last; "+
					"echo $$ > %[1]s.3; exit 5", file),
				"gone": "exec cat",
			} {
				p := ahp.CreateTerminalParams{Channel: ahp.TerminalURI(name)}
				p.Meta = &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{
					Command: "sh", Args: []string{"-c", line}}}
				hosttest.Check(t, a.CreateTerminal(ctx, p))
			}
			root, err := a.Subscribe(ctx, ahp.RootURI)
			hosttest.Check(t, err)
			runs, ends, gone := follow(a, "runs"), follow(a, "ends"), follow(a, "gone")
			for _, m := range []*client.Mirror{runs, ends} {
				hosttest.Check(t, m.WaitTerminal(ctx, func(st *ahp.TerminalState) bool {
					return strings.Contains(client.Text(st), "first")
				}))
			}
			// One gets the size that it has, as clients ask for when they draw it, and one another.
			for m, size := range map[*client.Mirror]ahp.TerminalResized{
				runs: {Cols: 80, Rows: 24}, ends: {Cols: 100, Rows: 30},
			} {
				hosttest.Check(t, a.Dispatch(ctx, m.URI(), size))
			}
			// What comes after their snapshots tells the client's serverSeq.
			hosttest.Check(t, os.WriteFile(file+".0", nil, 0o600))
			for _, m := range []*client.Mirror{runs, ends} {
				hosttest.Check(t, m.WaitTerminal(ctx, func(st *ahp.TerminalState) bool {
					return strings.Contains(client.Text(st), "second")
				}))
			}
			keeper := keepersOf(t, state)[0]
			_ = h.Stop(c.how)
			hosttest.Check(t, os.WriteFile(file, nil, 0o600))
			hosttest.Eventually(t, "all is printed, and one has ended", func() bool {
				_, err := os.Stat(file + ".2")
				return err == nil && len(childrenOf(t, keeper)) == 2
			})
			start()
			do("rm", "gone")
			do("new", "-d", "-n", "gone", "--", "cat") // another one, which the client does not mean
			close(away)

			hosttest.Eventually(t, "it is connected again", func() bool { return len(states) > 0 })
			if s := <-states; !s.Resumed {
				t.Error("the host does not know it any more")
			}
			if !errors.Is(gone.Err(), client.ErrGone) {
				t.Errorf("the one that was removed: %v", gone.Err())
			}
			if st := ends.Terminal(); !st.Exited || st.ExitCode == nil || *st.ExitCode != 5 {
				t.Errorf("the one that has ended is %+v", st)
			}
			// It still holds the one that goes on.
			hosttest.Check(t, a.Dispatch(ctx, runs.URI(), ahp.TerminalInput{Data: []byte("it\r")}))
			hosttest.Check(t, runs.WaitTerminal(ctx, func(st *ahp.TerminalState) bool {
				return st.Exited && st.ExitCode != nil && *st.ExitCode == 7
			}))
			b, _ := connectTapped(t, state, "", &tapped{}, nil)
			if st := runs.Terminal(); st.Title != "away" {
				t.Errorf("the title is %q, which it was before", st.Title)
			}
			for _, m := range []*client.Mirror{runs, ends} {
				name, _ := ahp.TerminalName(m.URI())
				st, fresh := m.Terminal(), follow(b, name).Terminal()
				got, want := client.Text(&st), client.Text(&fresh)
				if n := c.compared; n > 0 && name == "runs" {
					got, want = got[max(0, len(got)-n):], want[max(0, len(want)-n):]
				}
				if got != want {
					t.Errorf("%s has %d bytes that end with %q, want %d: %q", name, len(got),
						got[max(0, len(got)-40):], len(want), want[max(0, len(want)-40):])
				}
				if st.Title != fresh.Title || st.Claim != fresh.Claim || st.Cwd != fresh.Cwd {
					t.Errorf("%s is %+v, want %+v", name, st, fresh)
				}
			}
			if got := do("log", "--raw", "ends"); got != "first\r\nsecond\r\nlast\r\n" {
				t.Errorf("the log is %q", got)
			}
			hosttest.Check(t, root.WaitRoot(ctx, func(st *ahp.RootState) bool {
				return len(st.Terminals) == 3
			}))
			tap.check(t, "ahp-terminal:/gone", c.compared > 0)
			for _, name := range []string{"runs", "ends"} {
				if c.compared > 0 {
					break
				}
				// It was sent everything that came after its snapshot, and all of it once.
				sent, raw := tap.data[ahp.TerminalURI(name)], do("log", "--raw", name)
				if !strings.HasSuffix(raw, sent) || len(raw)-len(sent) > len("first\r\n") {
					t.Errorf("%s was sent %q, and its log is %q", name, sent, raw)
				}
			}
		})
	}
}

// TestAReloadedHostHandsOn: a host that has read another configuration still gives the next one a
// terminal's output, and its clients' places in it.
func TestAReloadedHostHandsOn(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "\nterminal.persist = false\n") // the keeper has all there is
	h := start()
	file := filepath.Join(state, "../../../c.toml")
	text, err := os.ReadFile(file)
	hosttest.Check(t, err)
	again := strings.Replace(string(text), " HOME", ` AGAIN = "yes", HOME`, 1)
	hosttest.Check(t, os.WriteFile(file+".new", []byte(again), 0o600))
	hosttest.Check(t, os.Rename(file+".new", file))
	hosttest.Eventually(t, "it has read the configuration again", func() bool {
		return do("run", "--", "sh", "-c", "echo $AGAIN") == "yes\n"
	})
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo shown; read x; echo seen; exec cat")
	hosttest.Eventually(t, "it prints", func() bool { return do("log", "a") == "shown\n" })
	away, tap := make(chan struct{}), &tapped{}
	a, states := connectTapped(t, state, "", tap, away)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := a.Subscribe(ctx, ahp.TerminalURI("a"))
	hosttest.Check(t, err)
	do("send", "--enter", "a", "")
	hosttest.Check(t, m.WaitTerminal(ctx, func(st *ahp.TerminalState) bool {
		return strings.HasSuffix(client.Text(st), "seen\r\n")
	}))
	want := do("log", "--raw", "a")
	_ = h.Stop(syscall.SIGKILL)
	start()
	if got := do("log", "--raw", "a"); got != want {
		t.Errorf("the next host's log is %q, want %q", got, want)
	}
	close(away)
	hosttest.Eventually(t, "the client is connected again", func() bool { return len(states) > 0 })
	if tap.cleared() > 0 {
		t.Error("the client is resynchronised")
	}
}

// TestAShellThatWasReplacedEndsItsCommandOnce: no output tells of that end.
func TestAShellThatWasReplacedEndsItsCommandOnce(t *testing.T) {
	t.Parallel()
	f := followOne(t, "\nterminal.shell = \"/bin/bash\"\n")
	m := f.mirror
	ended := func(st *ahp.TerminalState) (n int) {
		for _, part := range st.Content {
			if part.Command != nil && part.Command.Complete {
				n++
			}
		}
		return n
	}
	hosttest.Check(t, m.WaitTerminal(f.ctx, func(st *ahp.TerminalState) bool { return st.Detection }))
	hosttest.Check(t, f.client.Dispatch(f.ctx, m.URI(), ahp.TerminalInput{Data: []byte("exec sh\r")}))
	hosttest.Check(t, m.WaitTerminal(f.ctx, func(st *ahp.TerminalState) bool { return ended(st) == 1 }))
	hosttest.Check(t, f.client.Dispatch(f.ctx, m.URI(), ahp.TerminalInput{Data: []byte("echo $((40+2))\r")}))
	f.shows("42\r\n")
	f.killed()
	f.do("send", "--enter", "a", "exit")
	hosttest.Check(t, m.WaitTerminal(f.ctx, func(st *ahp.TerminalState) bool { return st.Exited }))
	if st := m.Terminal(); ended(&st) != 1 || f.tap.cleared() > 0 {
		t.Errorf("%d commands have ended, and the client was resynchronised %d times", ended(&st), f.tap.cleared())
	}
}

// follower is a client that follows a terminal, "a", of a host that will be killed.
type follower struct {
	t      *testing.T
	ctx    context.Context
	client *client.Client
	mirror *client.Mirror
	tap    *tapped
	do     func(args ...string) string
	killed func() // kills the host, and returns when the client is connected to the next
}

// followOne returns a client of a host with a configuration, and of its terminal that runs a command, or
// else a shell.
func followOne(t *testing.T, config string, command ...string) *follower {
	t.Helper()
	start, state, do := keptHost(t, config)
	h := start()
	away, f := make(chan struct{}), &follower{t: t, tap: &tapped{}, do: do}
	var states <-chan client.State
	f.client, states = connectTapped(t, state, "", f.tap, away)
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	p := ahp.CreateTerminalParams{Channel: ahp.TerminalURI("a")}
	if len(command) > 0 {
		p.Meta = &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: command[0], Args: command[1:]}}
	}
	hosttest.Check(t, f.client.CreateTerminal(f.ctx, p))
	var err error
	f.mirror, err = f.client.Subscribe(f.ctx, p.Channel)
	hosttest.Check(t, err)
	f.killed = func() {
		t.Helper()
		_ = h.Stop(syscall.SIGKILL)
		start()
		close(away)
		hosttest.Eventually(t, "the client is connected again", func() bool { return len(states) > 0 })
	}
	return f
}

// shows waits until the client has a text.
func (f *follower) shows(text string) {
	f.t.Helper()
	hosttest.Check(f.t, f.mirror.WaitTerminal(f.ctx, func(st *ahp.TerminalState) bool {
		return strings.Contains(client.Text(st), text)
	}))
}

// TestHalfACharacterIsNotLostWithTheHost has a program print half a character, or half a sequence, before
// the host is killed, and the rest after.
func TestHalfACharacterIsNotLostWithTheHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second, last string }{
		"character": {`caf\303`, "caf", `\251 it`},
		"sequence":  {`red\033[3`, "red\x1b[3", `1m it`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := followOne(t, "", "sh", "-c",
				"read x; echo begun; read x; printf '"+c.first+"'; read x; printf '"+c.last+"'; read x")
			f.do("send", "--enter", "a", "")
			f.shows("begun")
			f.do("send", "--enter", "a", "")
			f.shows(c.second)
			hosttest.Eventually(t, "all of it has been sent", func() bool {
				f.tap.mu.Lock()
				defer f.tap.mu.Unlock()
				return name == "sequence" || strings.Contains(f.tap.data[f.mirror.URI()], "\uFFFD")
			})
			f.killed()
			f.do("send", "--enter", "a", "")
			f.shows("it")
			if n := f.tap.cleared(); n > 0 {
				t.Errorf("the client was resynchronised %d times", n)
			}
		})
	}
}

// cleared returns how often a channel was resynchronised in the answer to a reconnect.
func (w *tapped) cleared() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.replays {
		for _, a := range r.Actions {
			if a.Action.Type == "terminal/cleared" {
				n++
			}
		}
	}
	return n
}

// check looks at what the host has sent: the answer to one reconnect, in which a channel is
// missing and, if that must be, another one is resynchronised, and serverSeqs that rise.
func (w *tapped) check(t *testing.T, missing string, resynchronised bool) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.replays) != 1 || w.replays[0].Type != "replay" ||
		len(w.replays[0].Missing) != 1 || w.replays[0].Missing[0] != missing {
		t.Fatalf("the answers to reconnect are %+v", w.replays)
	}
	cleared := false
	for _, a := range w.replays[0].Actions {
		cleared = cleared || a.Channel == "ahp-terminal:/runs" && a.Action.Type == "terminal/cleared"
	}
	if resynchronised && !cleared {
		t.Error("the log that is too short is replayed")
	}
	for _, a := range w.replays[0].Actions {
		if !resynchronised && a.Action.Type == "terminal/cleared" {
			t.Errorf("%s is resynchronised", a.Channel)
		}
	}
	for i := 1; i < len(w.seqs); i++ {
		if w.seqs[i] <= w.seqs[i-1] {
			t.Fatalf("serverSeq %d follows %d", w.seqs[i], w.seqs[i-1])
		}
	}
}

// connectTapped returns a client of the host with a state folder, and its later connections. token
// may be "". After its first connection it does not connect before again is closed.
func connectTapped(
	t *testing.T, stateDir, token string, tap *tapped, again <-chan struct{},
) (*client.Client, <-chan client.State) {
	t.Helper()
	socket := filepath.Join(stateDir, config.SocketName)
	dial := client.WebSocket("ws://localhost/ahp", client.WebSocketOptions{Socket: socket, Token: token})
	states := make(chan client.State, 16)
	first := true
	c, err := client.Connect(t.Context(), client.Config{
		MinBackoff: 1,
		MaxBackoff: 1,
		Dial: func(ctx context.Context) (transport.Transport, error) {
			if !first {
				select {
				case <-again:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			first = false
			conn, err := dial(ctx)
			return wiretap{conn, tap}, err
		},
		OnState: func(s client.State) {
			if s.Connected && s.Conn > 1 {
				states <- s
			}
		},
	})
	hosttest.Check(t, err)
	t.Cleanup(func() { c.Close() })
	return c, states
}

// TestAnAHPClientSeesEachByteOnceAcrossHosts kills and stops hosts at random moments while a program
// prints and changes its title, and an agent's client follows it, which others type beside.
func TestAnAHPClientSeesEachByteOnceAcrossHosts(t *testing.T) {
	t.Parallel()
	hosts := 4
	if isSlow(t) {
		hosts = 40
	}
	start, state, do := keptHost(t, "")
	h := start()
	tap := &tapped{}
	again := make(chan struct{})
	close(again)
	words := append(h.SSHCommand(), "token")
	token, err := exec.Command(words[0], words[1:]...).Output()
	hosttest.Check(t, err)
	// It is another agent than who types below, to whom its keyboard is lent.
	a, states := connectTapped(t, state, strings.TrimSpace(string(token)), tap, again)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := ahp.CreateTerminalParams{Channel: ahp.TerminalURI("runs")}
	p.Meta = &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: "sh", Args: []string{"-c",
		`stty -echo; i=0; while :; do i=$((i+1)); printf "\033]0;at $((i/10))\033\\line $i\n"; sleep 0.002; done`}}}
	hosttest.Check(t, a.CreateTerminal(ctx, p))
	runs, err := a.Subscribe(ctx, p.Channel)
	hosttest.Check(t, err)
	lines := func(st *ahp.TerminalState) int { return strings.Count(client.Text(st), "\n") }
	for i := range hosts {
		for _, c := range []ahp.Action{
			ahp.TerminalResized{Cols: 80 + i/2, Rows: 24}, // often the size that it has
			ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: a.ID()}},
		} {
			hosttest.Check(t, a.Dispatch(ctx, p.Channel, c))
		}
		do("send", "runs", "x") // the keyboard is lent
		now := runs.Terminal()
		seen := lines(&now)
		hosttest.Check(t, runs.WaitTerminal(ctx, func(st *ahp.TerminalState) bool { return lines(st) > seen+5 }))
		_ = h.Stop([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[i%2])
		h = start()
		hosttest.Eventually(t, "it is connected again", func() bool { return len(states) > 0 })
		<-states
	}
	seen := runs.Terminal()
	hosttest.Check(t, runs.WaitTerminal(ctx, func(st *ahp.TerminalState) bool { return lines(st) > lines(&seen)+5 }))
	resyncs := tap.cleared()
	tap.mu.Lock()
	defer tap.mu.Unlock()
	sent := tap.data[p.Channel]
	if resyncs > 0 {
		t.Errorf("it was resynchronised %d times by %d hosts", resyncs, hosts)
	}
	text := regexp.MustCompile("\x1b]0;at [0-9]+\x1b\\\\").ReplaceAllString(sent, "")
	if last := consecutive(t, text); last < hosts*5 {
		t.Errorf("it was sent %d lines", last)
	}
	if raw := do("log", "--raw", "runs"); !strings.Contains(raw, sent) {
		t.Error("what it was sent is not what the log has")
	}
}

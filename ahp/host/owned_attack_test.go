package host_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// tries is how often each attack is made: an attack that succeeds once in a thousand times has
// succeeded.
const tries = 1000

// forgeries are what an attacker would like to do to somebody's terminal.
func forgeries(own string) []ahp.Action {
	zero := 0
	return []ahp.Action{
		ahp.TerminalOutput{Data: []byte("rm -rf ~\r\n")},
		ahp.TerminalOutput{},
		ahp.TerminalInput{Data: []byte("ls\r")},
		ahp.TerminalCleared{},
		ahp.TerminalResized{Cols: 1, Rows: 1},
		ahp.TerminalExited{ExitCode: &zero},
		ahp.TerminalTitleChanged{Title: "mine"},
		ahp.TerminalCommandExecuted{CommandID: "forged", CommandLine: "ls"},
		ahp.TerminalCommandFinished{CommandID: "real", ExitCode: &zero},
		ahp.TerminalClaimed{Claim: ahp.ClientClaim(own)},
		ahp.TerminalData{Data: []byte("forged")},
		ahp.TerminalCwdChanged{Cwd: "file:///forged"},
		ahp.TerminalCommandDetectionAvailable{},
		ahp.Unknown{Name: "terminal/unheard", Raw: json.RawMessage(`{"type":"terminal/unheard"}`)},
	}
}

// victim is a shared terminal with everything in it that could be spoiled.
type victim struct {
	h       *host.Host
	owner   *peer
	watcher *peer
	uri     string
	term    *host.Terminal
	before  ahp.TerminalState
}

func newVictim(t *testing.T, h *host.Host) *victim {
	t.Helper()
	v := &victim{h: h, owner: connect(t, h, carol, "laptop-7f3a"), watcher: connect(t, h, eve, "watcher")}
	v.uri, v.term = v.owner.share("laptop", "1h")
	v.owner.print(v.uri, "$ ")
	begun := ahp.TerminalCommandExecuted{CommandID: "real", CommandLine: "make", Timestamp: 1}
	if why := v.owner.dispatch(v.uri, begun); why != "" {
		t.Fatal(why)
	}
	v.owner.print(v.uri, "building\r\n")
	v.watcher.subscribe(v.uri)
	v.watcher.pending()
	v.owner.pending()
	v.before = state(t, h, v.term)
	return v
}

// unharmed fails if anything has come of an attack: in the state, for a watcher, or for the owner,
// whose next output must be taken.
func (v *victim) unharmed(t *testing.T) {
	t.Helper()
	if after := state(t, v.h, v.term); !reflect.DeepEqual(after, v.before) {
		t.Errorf("the state has changed from\n%+v\nto\n%+v", v.before, after)
	}
	for who, p := range map[string]*peer{"the watcher": v.watcher, "the owner": v.owner} {
		for _, e := range p.pending() {
			if e.Channel() == v.uri {
				t.Errorf("%s was told %s", who, e.Action().Type())
			}
		}
	}
	if exited(v.term) {
		t.Error("it has exited")
	}
	v.owner.print(v.uri, "still mine\r\n")
	v.before = state(t, v.h, v.term)
	v.watcher.pending()
}

// attack makes every forgery a thousand times. rule is what every refusal names.
func (v *victim) attack(t *testing.T, attacker *peer) {
	t.Helper()
	attacker.t = t
	for _, a := range forgeries(attacker.id) {
		for range tries {
			why := attacker.dispatch(v.uri, a)
			if why == "" {
				t.Fatalf("%s was taken", a.Type())
			}
			if !strings.Contains(why, "client-executed") &&
				!strings.Contains(why, "not dispatched by clients") &&
				!strings.Contains(why, "observers") {
				t.Fatalf("%s was refused with %q, which names no rule", a.Type(), why)
			}
			attacker.passed, attacker.seen = nil, nil
		}
	}
	v.unharmed(t)
}

// Mallory holds an operator's key of her own. She has seen Carol's clientId in the list of
// terminals, where everybody sees it, and connects with it.
func TestAttackTheOwnersClientIdWithAnotherKey(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	v := newVictim(t, h)
	mallory := hosttest.Principal("mallory", authz.Operator)
	for _, p := range []authz.Principal{mallory, alice, bot} {
		for range tries {
			c, err := h.Connect(p, host.DoorWebSocket)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Initialize(initParams("1.0.0", v.owner.id))
			if e := rpc.Error(c, err); e == nil || e.Code != ahp.CodeNotPermitted {
				t.Fatalf("%s may use the owner's clientId: %v", p.Name, err)
			}
			_, err = c.Reconnect(ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: v.owner.id,
				Subscriptions: []ahp.SubscriptionRef{ahp.SubscriptionRef(v.uri)}})
			if e := rpc.Error(c, err); e == nil || e.Code != ahp.CodeNotPermitted {
				t.Fatalf("%s may reconnect as the owner: %v", p.Name, err)
			}
			c.Close()
		}
	}
	// While the owner is away and its terminal waits, nobody else gets the clientId either.
	v.owner.c.Close()
	c, err := h.Connect(mallory, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, e := c.Initialize(initParams("1.0.0", v.owner.id)); e == nil {
		t.Error("the clientId of an owner that is away is free")
	}
}

// Mallory connects as herself and sends what only the owner may.
func TestAttackWithAClientIdOfOnesOwn(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	v := newVictim(t, h)
	v.attack(t, connect(t, h, hosttest.Principal("mallory", authz.Operator), "mallory"))
}

// An admin may end the terminal, but may do no more to it than others.
func TestAttackByAnAdmin(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	v := newVictim(t, h)
	v.attack(t, connect(t, h, alice, "admin"))
}

// An observer may look.
func TestAttackByAnObserver(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	v := newVictim(t, h)
	observer := connect(t, h, hosttest.Principal("oscar", authz.Observer), "oscar")
	v.attack(t, observer)
	if e := rpc.DisposeTerminal(observer.c, v.uri); e == nil {
		t.Error("an observer disposed it")
	}
	v.unharmed(t)
}

// Another program of Carol's, with her own key but another clientId, is not the owner: a key may be
// used on many machines.
func TestAttackByTheSameKeyWithAnotherClientId(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	v := newVictim(t, h)
	other := connect(t, h, carol, "other-machine")
	v.attack(t, other)
	for range tries {
		if e := rpc.DisposeTerminal(other.c, v.uri); e == nil || e.Code != ahp.CodeNotPermitted {
			t.Fatalf("another clientId of the key disposes it: %v", e)
		}
	}
	v.unharmed(t)
}

// The host never reads an origin that a client sends: the echo names the connection's own clientId.
func TestAttackWithAForgedOrigin(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	v := newVictim(t, h)
	mallory := connect(t, h, carol, "forger")
	a, err := ahp.DecodeAction(json.RawMessage(`{"type":"terminal/output","data":"forged","origin":{"clientId":"laptop-7f3a","clientSeq":1},"clientId":"laptop-7f3a"}`))
	if err != nil {
		t.Fatal(err)
	}
	for range tries {
		mallory.seq++
		mallory.c.Dispatch(v.uri, mallory.seq, a)
		if e := mallory.answer(mallory.seq); e.Rejection() == "" || e.Origin().ClientID != "forger" {
			t.Fatalf("the answer is %q of %s", e.Rejection(), e.Origin().ClientID)
		}
		mallory.passed, mallory.seen = nil, nil
	}
	v.unharmed(t)
}

// The owner's laptop has changed networks and reconnected, and somebody has kept the old connection
// alive. Nothing that comes on it counts.
func TestAttackFromAConnectionThatWasTakenOver(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	v := newVictim(t, h)
	stale := v.owner
	v.owner = connect(t, h, carol, stale.id)
	v.owner.subscribe(v.uri)
	for _, a := range forgeries(stale.id) {
		for range tries {
			stale.c.Dispatch(v.uri, 1, a)
		}
	}
	if e := rpc.DisposeTerminal(stale.c, v.uri); e == nil {
		t.Error("a stale connection disposed the terminal")
	}
	v.unharmed(t)
	stale.c.Close() // its end is no loss of the owner
	v.unharmed(t)
}

// passage is a clock that tells when it is read: an action is charged for, by the clock, once it
// has passed the first check of its connection.
type passage struct {
	armed atomic.Bool
	c     chan struct{} // closed when the clock is read after arm
}

func (p *passage) arm() { p.armed.Store(true) }

func (p *passage) now() time.Time {
	if p.armed.CompareAndSwap(true, false) {
		close(p.c)
	}
	return time.Now()
}

// An action of the older connection has passed the first check of its connection, but has not
// reached the terminal yet, when the owner reconnects. It must never reach it, because reconnect
// has told the owner what had arrived.
func TestAttackWithAnActionThatATakeOverOvertakes(t *testing.T) {
	t.Parallel()
	passed := &passage{c: make(chan struct{})}
	h := hosttest.New(t, func(c *host.Config) { c.Now = passed.now })
	v := newVictim(t, h)
	stale := v.owner.c
	release := host.Hold(v.term)
	passed.arm()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		stale.Dispatch(v.uri, 7, ahp.TerminalOutput{Data: []byte("stale")})
	}()
	wait(t, "the action", passed.c)
	v.owner = connect(t, h, carol, v.owner.id)
	v.owner.subscribe(v.uri)
	release()
	wait(t, "its refusal", sent)
	v.unharmed(t)
}

// Carol's key is removed from authorized_keys while her terminal is shared, and while it waits for
// her.
func TestAKeyThatIsRemovedEndsItsTerminalsAtOnce(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"connected", "away"} {
		t.Run(when, func(t *testing.T) {
			slowtest.Hurry(t)
			h := newClientHost(t)
			gone := make(chan func(error), 1)
			removed := false
			c, err := h.Connect(carol, host.DoorWebSocket)
			if err != nil {
				t.Fatal(err)
			}
			c.Prove(func(end func(error)) func() {
				if removed {
					end(authz.ErrChanged)
				} else {
					gone <- end
				}
				return func() {}
			})
			if _, e := c.Initialize(initParams("1.0.0", "owner")); e != nil {
				t.Fatal(e)
			}
			owner := &peer{t: t, h: h, c: c, id: "owner"}
			_, term := owner.share("laptop", "1h")
			if when == "connected" {
				removed = true
				c.End(authz.ErrChanged) // by the door, which follows the key
				c.Close()
			} else {
				c.Close()
				select {
				case end := <-gone:
					end(authz.ErrChanged)
				case <-time.After(slowtest.PatienceOf(t)):
					t.Fatal("nobody follows the key of an owner that is away")
				}
			}
			wait(t, "the end", term.Gone())
			if st, _ := term.Exit(); st.Code != -1 {
				t.Errorf("it ended with %d", st.Code)
			}
		})
	}
}

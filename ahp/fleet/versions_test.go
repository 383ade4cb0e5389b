package fleet_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
)

// later is what a later version adds to an object of JSON.
func later(text []byte) []byte {
	return append([]byte(`{"later":{"a":[1]},"Later2":null,`), text[1:]...)
}

// signs returns the fleet's roster in its signed form as a home of a later version has it.
func (w *town) signs(change func(members []map[string]any) []map[string]any) []byte {
	w.t.Helper()
	file := func(name string) []byte {
		p, err := os.ReadFile(filepath.Join(string(w.folder("home")), name))
		hosttest.Check(w.t, err)
		return p
	}
	var before struct{ Roster []byte }
	hosttest.Check(w.t, json.Unmarshal(file("roster.json"), &before))
	var r struct {
		Version int              `json:"version"`
		Home    string           `json:"home"`
		Members []map[string]any `json:"members"`
	}
	hosttest.Check(w.t, json.Unmarshal(before.Roster, &r))
	r.Version++
	r.Members = change(r.Members)
	text, err := json.Marshal(r)
	hosttest.Check(w.t, err)
	text = later(text)
	root := ed25519.NewKeyFromSeed(file("root.key"))
	signed, err := json.Marshal(map[string][]byte{"roster": text,
		"signature": ed25519.Sign(root, append([]byte("termhost fleet roster 1\n"), text...))})
	hosttest.Check(w.t, err)
	return later(signed)
}

// asks returns what a guest with the secret of a line asks to join with, and the guest's name.
func asks(t *testing.T, name, line string) (request []byte, guest string) {
	t.Helper()
	key, err := nkeys.CreateUser()
	hosttest.Check(t, err)
	public, err := key.PublicKey()
	hosttest.Check(t, err)
	hash := sha256.Sum256([]byte(line[strings.LastIndexByte(line, '.')+1:]))
	mac := hmac.New(sha256.New, hash[:])
	fmt.Fprintf(mac, "termhost fleet join 1\n%q %q", name, public)
	request, err = json.Marshal(map[string]any{"name": name, "key": public, "proof": mac.Sum(nil)})
	hosttest.Check(t, err)
	return request, fmt.Sprintf("join-%x", hash[:8])
}

// What a later version adds to what hosts send and store does not keep an older one from reading
// the rest.
func TestWhatALaterVersionAddsIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, box2 := w.three()

		// The line to join, the request, and what a host knows of its fleet.
		hosttest.Check(t, w.join("box3", w.token(false)+".later.more"))
		request, guest := asks(t, "box4", w.token(false))
		node, err := bus.New(guest, w.net.Connect(guest), bus.Handlers{})
		hosttest.Check(t, err)
		if _, err := node.Request(t.Context(), "home", later(request)); err != nil {
			t.Errorf("a request to join: %v", err)
		}
		hosttest.Check(t, node.Close())
		membership := filepath.Join(string(w.folder("box3")), "fleet.json")
		text, err := os.ReadFile(membership)
		hosttest.Check(t, err)
		hosttest.Check(t, os.WriteFile(membership, later(text), 0o600))
		box3 := w.open("box3", nil)
		time.Sleep(5 * time.Second)
		expect(t, home, "box1 box2 box3 box4? home")

		// The roster, of which box3 makes a copy.
		hosttest.Check(t, w.folder("home").SaveRoster(w.signs(
			func(members []map[string]any) (kept []map[string]any) {
				for _, m := range members {
					m["later"] = true
					if m["name"] != "box4" {
						kept = append(kept, m)
					}
				}
				return kept
			})))
		time.Sleep(5 * time.Second)
		for _, f := range []*fleet.Fleet{home, box1, box2, box3} {
			expect(t, f, "box1 box2 box3 home")
		}
		hosttest.Check(t, box3.Close())
		box3 = w.open("box3", nil)
		time.Sleep(5 * time.Second)
		expect(t, box3, "box1 box2 box3 home")

		// The heartbeat.
		hosttest.Check(t, box2.Close())
		node, err = bus.New("box2", w.net.Connect("box2"), bus.Handlers{})
		hosttest.Check(t, err)
		defer node.Close()
		hosttest.Check(t, node.Announce(later(
			[]byte(`{"boot":"x","version":"9","terminals":7,"names":"AAAA","roster":1}`))))
		time.Sleep(time.Second)
		for _, h := range home.Hosts() {
			if h.Name == "box2" && (h.Version != "9" || h.Terminals != 7) {
				t.Errorf("of its heartbeat is heard %+v", h)
			}
		}
		if hosts := home.WithName("any"); len(hosts) > 0 {
			t.Errorf("names in a form of later are %q's", hosts)
		}
	})
}

// What has a format of later is left alone, and the error says so.
func TestAFormatOfLaterIsRefusedInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, box2 := w.three()
		refused := func(what string, err error) {
			t.Helper()
			var format *roster.FormatError
			if !errors.As(err, &format) || format.Format != 2 {
				t.Errorf("%s: %v", what, err)
				return
			}
			for _, want := range []string{what, "format 2", "up to 1", "update termhost on this"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		}
		refused("the line to join", w.join("box3", "2.what.ever"))

		line := w.token(false)
		for _, signed := range []string{`{"format":2,"roster":{"members":{}}}`,
			`{"signature":7,"format":2}`} {
			hosttest.Check(t, w.folder("home").SaveRoster([]byte(signed)))
			time.Sleep(5 * time.Second) // the home itself goes on with what it knows
			refused("the fleet's roster", w.join("box3", line))
		}
		expect(t, home, "box1 box2 home")
		signed, err := w.folder("box2").Signed()
		hosttest.Check(t, err)
		hosttest.Check(t, w.folder("home").SaveRoster(signed))
		hosttest.Check(t, w.join("box3", line)) // it is still good

		hosttest.Check(t, box2.Close())
		hosttest.Check(t, w.folder("box2").SaveRoster([]byte(`{"format":2}`)))
		_, err = fleet.Open(fleet.Options{Folder: w.folder("box2")})
		refused("the fleet's roster", err)
		hosttest.Check(t, os.WriteFile(filepath.Join(string(w.folder("box2")), "fleet.json"),
			[]byte(`{"format":2,"name":{}}`), 0o600))
		_, err = fleet.Open(fleet.Options{Folder: w.folder("box2")})
		refused("what this host knows of its fleet", err)
	})
}

// Each heartbeat says that there is a newer roster.
func TestARosterThatCannotBeReadIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, _, box2 := w.three()
		hosttest.Check(t, box2.Close())
		var log hosttest.Log
		w.log = log.Logger()
		w.open("box2", nil)
		said := func(want int, when string) {
			t.Helper()
			time.Sleep(time.Minute)
			if n := strings.Count(log.String(), "stays as it was"); n != want {
				t.Errorf("%s it is said %d times, want %d: %s", when, n, want, log.String())
			}
		}
		hosttest.Check(t, home.Close())
		version := 100
		later, err := bus.New("home", w.net.Connect("home"), bus.Handlers{
			Opened: func(_ string, _ []byte, s *bus.Stream) {
				_, _ = io.WriteString(s, `{"format":2}`)
				s.Close()
			}})
		hosttest.Check(t, err)
		announces := func() {
			for range 20 {
				p := fmt.Appendf(nil, `{"boot":"x","roster":%d}`, version)
				hosttest.Check(t, later.Announce(p))
				time.Sleep(3 * time.Second)
			}
		}
		announces()
		said(1, "at first")
		version++
		announces()
		said(2, "when it has changed")
		hosttest.Check(t, later.Close())

		// The home's own file is looked at all the time.
		w.open("home", nil)
		said(2, "when all is well")
		hosttest.Check(t, w.folder("home").SaveRoster([]byte(`{"format":2}`)))
		said(3, "of the home's file")
	})
}

// What an older host does not know it says in words, with its version.
func TestWhatAnOlderHostDoesNotKnowIsSaidWithItsVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, _ := w.three()
		read := func(s net.Conn, err error) string {
			t.Helper()
			hosttest.Check(t, err)
			defer s.Close()
			_, err = s.Read(make([]byte, 1))
			return fmt.Sprint(err)
		}
		const want = `%s runs termhost 1, which does not know %s over the fleet: update it`
		long := strings.Repeat("x", 64)
		for kind, shown := range map[string]string{"later": `"later"`, "\x1b[2J": `"\x1b[2J"`,
			long + "y": `"` + long + `"`} {
			if got := read(home.Dial("box2", fleet.Kind(kind))); got !=
				fmt.Sprintf(want, "box2", shown) {
				t.Errorf("a stream of a kind of later: %s", got)
			}
		}

		// box1, which is no door, is of a later version.
		hosttest.Check(t, box1.Close())
		node, err := bus.New("box1", w.net.Connect("box1"), bus.Handlers{})
		hosttest.Check(t, err)
		if got := read(node.Open("home", []byte("later"))); got !=
			fmt.Sprintf(want, "home", `"later"`) {
			t.Errorf("a stream of a host that is no door: %s", got)
		}
		for _, request := range []string{`{"later":{}}`, `[1]`, "later"} {
			_, err = node.Request(t.Context(), "home", []byte(request))
			if got := fmt.Sprint(err); got != fmt.Sprintf(want, "home", "this request") {
				t.Errorf("%s is answered %s", request, got)
			}
		}
		hosttest.Check(t, node.Close())

		// The door is the older one, and does not list the hosts.
		box1 = w.open("box1", nil)
		time.Sleep(5 * time.Second)
		hosttest.Check(t, home.Close())
		for _, c := range []struct {
			why  error
			says string
		}{
			{errors.New("home runs termhost 0.9, which does not know it"), "does not know it"},
			{nil, "home, which runs termhost 0.9, does not list the hosts: EOF"},
		} {
			door, err := bus.New("home", w.net.Connect("home"), bus.Handlers{
				Opened: func(_ string, _ []byte, s *bus.Stream) {
					if c.why != nil {
						s.Refuse(c.why)
					}
					s.Close()
				}})
			hosttest.Check(t, err)
			hosttest.Check(t, door.Announce([]byte(`{"boot":"x","version":"0.9","roster":1}`)))
			time.Sleep(time.Second)
			if _, err := box1.Survey(t.Context()); err == nil ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("the hosts are listed with %v", err)
			}
			hosttest.Check(t, door.Close())
		}
	})
}

// What bounds a principal and is not known to the owner must not be left out.
func TestAnAssertionWithABoundOfLaterIsRefused(t *testing.T) {
	a := fleet.Assertion{Owner: "box2", Door: "home"}
	text := later([]byte(a.String()))
	if _, err := fleet.ParseAssertion(string(text), "box2", "home"); err != nil {
		t.Errorf("one with more in it: %v", err)
	}
	a.Critical = []string{"hours"}
	if _, err := fleet.ParseAssertion(a.String(), "box2", "home"); err == nil || !strings.Contains(
		err.Error(), `box2 has an older termhost, which does not know ["hours"]`) {
		t.Errorf("one with a bound of later: %v", err)
	}
}

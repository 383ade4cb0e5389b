package roster_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
)

func found(t *testing.T) (roster.Folder, roster.Membership) {
	t.Helper()
	folder := roster.Folder(t.TempDir())
	hosttest.Check(t, folder.Found("home", "127.0.0.1:1", nil))
	m, err := folder.Membership()
	hosttest.Check(t, err)
	return folder, m
}

func TestARosterOfAnotherKeyIsNotBelieved(t *testing.T) {
	folder, m := found(t)
	signed, err := folder.Signed()
	hosttest.Check(t, err)
	r, err := roster.Verify(signed, m.Root)
	hosttest.Check(t, err)
	_, forger, err := ed25519.GenerateKey(nil)
	hosttest.Check(t, err)
	r.Version++
	forged, err := r.Sign(forger)
	hosttest.Check(t, err)
	var parts struct{ Roster, Signature []byte }
	hosttest.Check(t, json.Unmarshal(signed, &parts))
	parts.Roster = []byte(strings.Replace(string(parts.Roster), "home", "evil", 1))
	changed, err := json.Marshal(parts)
	hosttest.Check(t, err)
	for name, p := range map[string][]byte{"forged": forged, "changed": changed} {
		if _, err := roster.Verify(p, m.Root); !errors.Is(err, roster.ErrSignature) {
			t.Errorf("a %s one: %v", name, err)
		}
	}
	if _, err := roster.Verify(signed, nil); err == nil {
		t.Error("one is believed without a key")
	}
}

func TestNamesAndKeysOfMembersAreChecked(t *testing.T) {
	_, m := found(t)
	r := roster.Roster{Home: "home", Members: []roster.Member{{Name: "home", Key: "x"}}}
	var taken *roster.NameError
	if _, err := r.With(roster.Member{Name: "home", Key: "U"}); !errors.As(err, &taken) {
		t.Errorf("a name that is taken: %v", err)
	}
	if _, err := r.With(roster.Member{Name: "box", Key: "SUAB"}); err == nil {
		t.Error("a key that is none is taken")
	}
	own, err := nkeys.CreateUser()
	hosttest.Check(t, err)
	public, err := own.PublicKey()
	hosttest.Check(t, err)
	two, err := r.With(roster.Member{Name: "box", Key: public})
	hosttest.Check(t, err)
	for _, key := range []string{public, public + "\n"} {
		if _, err := two.With(roster.Member{Name: "a", Key: key}); err == nil {
			t.Errorf("the key of another host, %q, is taken", key)
		}
	}
	if _, err := r.Without("home"); err == nil {
		t.Error("the home leaves")
	}
	if _, err := roster.ClientTLS(m.Authority); err != nil {
		t.Error(err)
	}
}

// Only the home has the key that signs.
func TestOnlyTheHomeChangesTheRosterAndMakesLines(t *testing.T) {
	folder, m := found(t)
	signed, err := folder.Signed()
	hosttest.Check(t, err)
	key, err := folder.Key()
	hosttest.Check(t, err)
	other := roster.Folder(t.TempDir())
	hosttest.Check(t, other.Enter(m, key, signed))
	if _, err := other.NewToken(true); err == nil {
		t.Error("another host makes lines")
	}
	if _, err := other.Change(func(r roster.Roster) (roster.Roster, error) {
		return r, nil
	}); err == nil {
		t.Error("another host changes the roster")
	}
}

func TestASecretIsSpentOnce(t *testing.T) {
	folder, _ := found(t)
	secret, err := folder.NewToken(true)
	hosttest.Check(t, err)
	sum := sha256.Sum256([]byte(secret))
	spent := make(chan bool, 10)
	for range cap(spent) {
		go func() {
			door, err := folder.Spend(func(hash []byte) bool { return bytes.Equal(hash, sum[:]) })
			spent <- err == nil && door
		}()
	}
	n := 0
	for range cap(spent) {
		select {
		case ok := <-spent:
			if ok {
				n++
			}
		case <-time.After(hosttest.Patience):
			t.Fatal("a lock is held")
		}
	}
	if _, err := folder.CheckToken(secret); n != 1 || err == nil {
		t.Errorf("it is spent %d times", n)
	}
}

// TestAHostKnowsTheServerWhateverItsClock: what time it is decides nothing between hosts.
func TestAHostKnowsTheServerWhateverItsClock(t *testing.T) {
	folder, m := found(t)
	certificate, err := folder.Certificate(m)
	hosttest.Check(t, err)
	for _, now := range []time.Time{time.Unix(60, 0), time.Now().AddDate(0, 0, -30),
		time.Now().AddDate(5, 0, 0)} {
		config, err := roster.ClientTLS(m.Authority)
		hosttest.Check(t, err)
		config.Time = func() time.Time { return now }
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			_ = tls.Server(server, &tls.Config{
				Certificates: []tls.Certificate{certificate}}).Handshake()
		}()
		if err := tls.Client(client, config).Handshake(); err != nil {
			t.Errorf("a host at %s: %v", now, err)
		}
		hosttest.Check(t, client.Close())
	}
}

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// assertionForger signs with the key of a thief, but something else than it is asked to sign.
type assertionForger struct {
	gossh.Signer
	signed *fleet.Assertion // in place of what is sent; nil: that
	sent   string
	reused *gossh.Signature // in place of a new one; nil: there is one
	last   *gossh.Signature
}

// Sign implements gossh.Signer. data is what RFC 4252 section 7 has signed: the stream's session id
// and the request with the user name.
func (f *assertionForger) Sign(rand io.Reader, data []byte) (*gossh.Signature, error) {
	if f.reused != nil {
		return f.reused, nil
	}
	if f.signed != nil {
		before := data
		data = bytes.Replace(data, sshText(f.sent), sshText(f.signed.String()), 1)
		if bytes.Equal(before, data) {
			return nil, fmt.Errorf("%q is not asked to be signed", f.sent)
		}
	}
	var err error
	f.last, err = f.Signer.Sign(rand, data)
	return f.last, err
}

// sshText is a string of SSH (RFC 4251 section 5).
func sshText(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// node connects as the host that was robbed.
func (th *thief) node(t *testing.T) *bus.Node {
	t.Helper()
	n, err := bus.New(th.host, natslink.Connect(th.link), bus.Handlers{})
	hosttest.Check(t, err)
	t.Cleanup(func() { n.Close() })
	return n
}

// forges returns an assertionForger with the key of the host that was robbed.
func (th *thief) forges(t *testing.T) *assertionForger {
	t.Helper()
	signer, err := roster.Signer(th.link.Key)
	hosttest.Check(t, err)
	return &assertionForger{Signer: signer}
}

// asserts logs in at a host over a new stream, and returns the connection.
func asserts(t *testing.T, n *bus.Node, host string, a fleet.Assertion, by *assertionForger) (
	*gossh.Client, error) {
	t.Helper()
	s, err := n.Open(host, []byte(fleet.KindCarried))
	hosttest.Check(t, err)
	t.Cleanup(func() { s.Close() })
	_ = s.SetDeadline(time.Now().Add(patience))
	by.sent = a.String()
	conn, chans, reqs, err := gossh.NewClientConn(s, host, &gossh.ClientConfig{User: by.sent,
		Auth:            []gossh.AuthMethod{gossh.PublicKeys(by)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey()})
	if err != nil {
		return nil, err
	}
	_ = s.SetDeadline(time.Time{})
	c := gossh.NewClient(conn, chans, reqs)
	t.Cleanup(func() { c.Close() })
	return c, nil
}

// is returns who the host says that a connection is.
func is(t *testing.T, c *gossh.Client) string {
	t.Helper()
	s, err := c.NewSession()
	hosttest.Check(t, err)
	out, err := s.Output("whoami")
	hosttest.Check(t, err)
	return strings.Join(strings.Fields(string(out))[:2], " ")
}

// Somebody has the keys of a door and of a host that is none. As the door they speak for anybody
// there, in its own name, on a stream of its own, and in no other way.
func TestAForgedPrincipalIsLetInNowhere(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	door, other := w.join("door", w.listen, "", "--door"), w.join("other", w.listen, "")
	box := w.join("box", w.listen, "[fleet]\ndoors = { home = \"admin\", door = \"admin\" }")
	w.together()
	robbed, otherRobbed := door.robbed(), other.robbed()
	_, _ = door.serve.Stop(os.Kill), other.serve.Stop(os.Kill)
	n := robbed.node(t)
	alice := fleet.Assertion{Owner: "box", Door: "door", From: "10.0.0.1:1", Connection: "c1",
		Principal: authz.Principal{ID: "uid:0", Name: "alice", Role: authz.Operator}}
	genuine := robbed.forges(t)
	during, err := asserts(t, n, "box", alice, genuine)
	hosttest.Check(t, err)
	if who := is(t, during); who != "alice@door operator" {
		t.Errorf("a genuine assertion is of %s", who)
	}
	before := strings.Count(box.audit(), `"login"`)
	refused := func(what string, a fleet.Assertion, by *assertionForger) {
		t.Helper()
		if c, err := asserts(t, n, "box", a, by); err == nil {
			t.Errorf("%s is let in as %s", what, is(t, c))
		}
	}

	refused("one that is signed by a host that is no door", alice, otherRobbed.forges(t))
	for what, change := range map[string]func(*fleet.Assertion){
		"another owner":      func(a *fleet.Assertion) { a.Owner = "home" },
		"another door":       func(a *fleet.Assertion) { a.Door = "home" },
		"the owner as door":  func(a *fleet.Assertion) { a.Door = "box" },
		"another name":       func(a *fleet.Assertion) { a.Principal.Name = "carol" },
		"another ID":         func(a *fleet.Assertion) { a.Principal.ID = "uid:1" },
		"another role":       func(a *fleet.Assertion) { a.Principal.Role = authz.Admin },
		"another source":     func(a *fleet.Assertion) { a.From = "10.0.0.2:1" },
		"another connection": func(a *fleet.Assertion) { a.Connection = "c2" },
		"a later expiry": func(a *fleet.Assertion) {
			a.Principal.Expires = time.Now().Add(time.Hour)
		},
	} {
		altered, by := alice, robbed.forges(t)
		change(&altered)
		by.signed = &alice
		refused("one that was altered after it was signed, to "+what+",", altered, by)
		if altered.Owner != "box" || altered.Door != "door" {
			refused("one of "+what, altered, robbed.forges(t))
		}
	}
	expired := alice
	expired.Principal.Expires = time.Now().Add(-time.Second)
	refused("one that has expired", expired, robbed.forges(t))
	known := alice
	known.Principal.ID, known.Principal.Fingerprint = "uid:0",
		gossh.FingerprintSHA256(w.signers["alice"].PublicKey())
	refused("one whose ID is not its key's", known, robbed.forges(t))

	// What was signed for a stream is good for no other, while that is there and afterwards.
	again := robbed.forges(t)
	again.reused = genuine.last
	refused("one of another stream, that is there,", alice, again)
	if who := is(t, during); who != "alice@door operator" {
		t.Errorf("the genuine one is now of %s", who)
	}
	hosttest.Check(t, during.Close())
	refused("one of another stream, that has ended,", alice, again)
	if after := strings.Count(box.audit(), `"login"`); after != before {
		t.Errorf("there are %d logins, and there were %d: %s", after, before, box.audit())
	}

	// One that expires ends then, with what it has open.
	slowtest.Hurry(t)
	expires := alice
	expires.Principal.Expires = time.Now().Add(3 * time.Second)
	c, err := asserts(t, n, "box", expires, robbed.forges(t))
	hosttest.Check(t, err)
	s, err := c.NewSession()
	hosttest.Check(t, err)
	hosttest.Check(t, s.Start("events"))
	ended := make(chan time.Time, 1)
	go func() {
		_ = s.Wait()
		ended <- time.Now()
	}()
	if at := slowtest.Receive(t, "the session ends", ended); at.Before(expires.Principal.Expires) {
		t.Errorf("it ends %v before it expires", expires.Principal.Expires.Sub(at))
	}
	home.run("alice", "new --on box -d -n fine -- cat")
}

// Whoever runs the servers sends all that they have seen again, while the connections are open that
// it was for. Nobody logs in by it, and nothing is typed or shown twice.
func TestWhatWasSentDoesNothingWhenItIsSentAgain(t *testing.T) {
	slow(t)
	t.Parallel()
	evil, _, home, box := operated(t)
	home.run("alice", "new --on box -d -n work -- "+echoes)
	o := home.look("alice", "attach box/work")
	o.answers(box, "first")
	before := strings.Count(box.audit(), `"login","who":"alice"`)
	for range 3 {
		for _, subject := range []string{"th.home.box.b", "th.home.box.c", "th.box.home.b",
			"th.box.home.c"} {
			for _, p := range evil.passed(subject) {
				hosttest.Check(t, evil.nc.Publish(subject, p))
			}
		}
		hosttest.Check(t, evil.nc.Flush())
	}
	o.types("second\r")
	o.sees("got second")
	o.mirrors(box, "work")
	if log := box.do("log", "work"); strings.Count(log, "got first") != 1 {
		t.Errorf("what was typed once is there more often: %s", log)
	}
	if after := strings.Count(box.audit(), `"login","who":"alice"`); after != before {
		t.Errorf("alice has logged in %d times, and before %d: %s", after, before, box.audit())
	}
}

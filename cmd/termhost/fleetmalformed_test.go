package main

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// malformed returns messages that no host sends: see package bus for the form of those that do.
func malformed() (list [][]byte) {
	const head = 1 + 8 + 8 + 8
	frame := func(kind byte, id, a, b uint64, payload string) []byte {
		p := []byte{kind}
		for _, n := range []uint64{id, a, b} {
			p = binary.BigEndian.AppendUint64(p, n)
		}
		return append(p, payload...)
	}
	for size := range head + 1 { // too short, and empty
		for kind := range byte(13) {
			list = append(list, frame(kind, 1, 0, 0, "")[:size])
		}
	}
	payloads := []string{"", "x", "\x00", "\xff\xfe", "null", "1e999", "[]", `{"boot":1}`,
		`{"boot":"x","terminals":-9223372036854775808,"roster":9223372036854775807,"names":"AA"}`,
		`{"boot":"\u001b[2J","version":"\u001b]0;pwned\u0007","labels":{"a\u001b[2J":"b"}}`,
		`{"leave":"` + strings.Repeat("A", 1<<10) + `"}`, `{"name":"box","key":"UAAA","proof":""}`,
		`{"roster":"AAAA","signature":"AAAA"}`, "carried", "jump", "roster", "hosts",
		strings.Repeat("[", 32<<10), strings.Repeat(`{"a":`, 10<<10), strings.Repeat("x", 1<<10+1),
		strings.Repeat("x", 64<<10+1), strings.Repeat("x", 128<<10-head)}
	for kind := range 256 {
		for _, n := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
			list = append(list, frame(byte(kind), n, n, n, "x"),
				frame(byte(kind), n, math.MaxUint64-n, 0, ""))
		}
	}
	for kind := range byte(13) {
		for i, payload := range payloads {
			list = append(list, frame(kind, uint64(i), 0, math.MaxUint64, payload))
		}
	}
	return list
}

// Whoever has the keys of a host sends everything that is no message. The other hosts go on, and
// what people see of it is text.
func TestWhatIsNoMessageHarmsNoHost(t *testing.T) {
	slow(t)
	t.Parallel()
	survivors(t)
}

func TestMeasuresWhatIsNoMessage(t *testing.T) {
	slowtest.Measures(t)
	for _, h := range survivors(t) {
		if size := residentOf(t, h.serve.Cmd.Process.Pid); size > 200<<20 {
			t.Errorf("%s takes %d MiB", h.name, size>>20)
		}
	}
}

// survivors returns two hosts, a fleet's home and another one, after somebody with the keys of a
// third has sent what is no message on every subject that they listen to. It fails the test if they
// do not go on.
func survivors(t *testing.T) []*fleetHost {
	t.Helper()
	w, home := newFleet(t, "")
	box, other := w.join("box", w.listen, ""), w.join("other", w.listen, "")
	w.together()
	home.run("alice", "new --on other -d -n work -- "+echoes)
	o := home.look("alice", "attach other/work")
	o.answers(other, "first")
	stolen := box.robbed()
	box.serve.Kill()

	public, err := stolen.link.Key.PublicKey()
	hosttest.Check(t, err)
	nc, err := nats.Connect(stolen.self.Servers[0], nats.Secure(stolen.tls),
		nats.Nkey(public, stolen.link.Key.Sign), nats.Timeout(patience))
	hosttest.Check(t, err)
	defer nc.Close()
	for _, subject := range []string{"th.box.home.c", "th.box.home.b", "th.box.other.c",
		"th.box.other.b", "th.box.all.c"} {
		for _, p := range malformed() {
			hosttest.Check(t, nc.Publish(subject, p))
		}
	}
	hosttest.Check(t, nc.FlushTimeout(patience))
	// The bound of heartbeats is used up by then: see package fleet.
	heartbeat := append(make([]byte, 25),
		`{"boot":"x","version":"\u001b[2Jnewest","labels":{"\u001b[2J":"\u0007"}}`...)
	heartbeat[0] = 1
	hosttest.Eventually(t, "what it says of itself is listed", func() bool {
		hosttest.Check(t, nc.Publish("th.box.all.c", heartbeat))
		time.Sleep(time.Second / 2)
		return strings.Contains(home.run("alice", "hosts"), "newest")
	})
	for _, line := range []string{"hosts", "ls", "hosts --json", "new --on newest -d"} {
		if said, _ := home.ask("alice", line); strings.ContainsAny(said, "\x1b\x07") {
			t.Errorf("%s prints %q", line, said)
		}
	}
	o.answers(other, "second")
	home.run("alice", "send --enter other/work third")
	home.run("alice", "wait --match 'got third' other/work")
	hosts := []*fleetHost{home, other}
	for _, h := range hosts {
		if log := h.logged(); strings.Contains(log, "panic") {
			t.Errorf("%s logs %s", h.name, log)
		}
	}
	return hosts
}

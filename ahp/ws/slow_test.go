package ws

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// A peer that reads little gets an answer for what it has asked for, and holds nobody up.
func TestAPeerThatReadsLittleHoldsNobodyUp(t *testing.T) {
	readLittle(t, 16, func(int) {})
}

// What waits for a peer that reads little is the difference between some requests and many.
func TestMeasuresAPeerThatReadsLittle(t *testing.T) {
	slowtest.Measures(t)
	const (
		filled = 16 // rounds after which the sockets, the log and the content are full
		rounds = filled + 48
		bound  = 8 << 20
	)
	var before usage
	after := readLittle(t, rounds, func(round int) {
		if round == filled {
			before = memory()
		}
	})
	if after.bytes > before.bytes+bound {
		t.Errorf("%d answers that wait hold %d bytes", rounds-filled, after.bytes-before.bytes)
	}
}

// readLittle has an observer subscribe to a terminal again and again while it prints, and read 3 kB
// for every megabyte that it is due. begin is called before each round. It returns what the process
// uses at the end.
func readLittle(t *testing.T, rounds int, begin func(round int)) usage {
	t.Helper()
	const output = 1 << 20 // of each round: the whole content changes
	w := newWorld(t)
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	s.create("agent", "flood", fmt.Sprintf(
		`while read n; do head -c %d /dev/zero | tr '\0' x; echo "end of round $n"; done`, output))
	s.subscribe("flood")

	slow, r, _ := w.upgraded(w.token(authz.Observer, "slow"))
	defer slow.Close()
	check(t, slow.(*net.TCPConn).SetReadBuffer(64<<10))
	say := func(msg string) {
		check(t, slow.SetDeadline(time.Now().Add(patience)))
		_, err := slow.Write(frame(0x81, true, uint64(len(msg)), []byte(msg)))
		check(t, err)
	}
	say(`{"jsonrpc":"2.0","id":"i","method":"initialize",` +
		`"params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"slow"}}`)
	for i := range rounds {
		begin(i)
		s.send(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/flood",`+
			`"clientSeq":%d,"action":{"type":"terminal/input","data":"%d\r"}}}`, i, i)
		s.until(fmt.Sprintf("end of round %d", i))
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscribe","params":{"channel":"ahp-terminal:/flood"}}`, i))
		w.viewers("flood", 2)
		say(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-terminal:/flood"}}`)
		w.viewers("flood", 1)
		_, err := io.ReadFull(r, make([]byte, 3000))
		check(t, err)
	}
	return memory()
}

// viewers waits until a terminal has as many subscribers and attaches as it should.
func (w *world) viewers(name string, want int) {
	w.t.Helper()
	term, err := hosttest.Find(w.host, authz.ForUID(0), name)
	if err != nil {
		w.t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		n := term.Info(authz.ForUID(0)).Viewers
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s has %d viewers, want %d", name, n, want)
		}
	}
}

package natslink_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/hosttest"
)

// speak connects as a host below NATS' client, which would not send what this is for. What the
// server says can be read.
func speak(t *testing.T, o natslink.Options) net.Conn {
	t.Helper()
	below, err := net.Dial("tcp", strings.TrimPrefix(o.Servers[0], "tls://"))
	hosttest.Check(t, err)
	t.Cleanup(func() { below.Close() })
	_ = below.SetDeadline(time.Now().Add(hosttest.Patience))
	line, err := bufio.NewReader(below).ReadString('\n') // the server waits for TLS then
	hosttest.Check(t, err)
	var info struct{ Nonce string }
	hosttest.Check(t, json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info))
	c := tls.Client(below, o.TLS)
	public, err := o.Key.PublicKey()
	hosttest.Check(t, err)
	signature, err := o.Key.Sign([]byte(info.Nonce))
	hosttest.Check(t, err)
	_, err = fmt.Fprintf(c, "CONNECT {\"verbose\":true,\"nkey\":%q,\"sig\":%q}\r\n", public,
		base64.RawURLEncoding.EncodeToString(signature))
	hosttest.Check(t, err)
	return c
}

// Whoever has the key of c sends what is no NATS, and messages that are larger than any may be. The
// server ends the connection, and goes on for others.
func TestWhatIsNoMessageEndsItsConnectionOnly(t *testing.T) {
	w := newTown(t)
	w.join("b", answers)
	a, _ := w.join("a", bus.Handlers{})
	o, _ := w.options("c", true)
	for what, sends := range map[string]string{
		"too large":         "PUB th.c.b.c 131073\r\n",
		"negative":          "PUB th.c.b.c -1\r\n",
		"a huge number":     "PUB th.c.b.c 99999999999999999999\r\n",
		"shorter":           "PUB th.c.b.c 1\r\nxyz\r\n",
		"with a head":       "HPUB th.c.b.c 9999999 131073\r\n",
		"of a long subject": "PUB th.c." + strings.Repeat("b", 1<<20),
		"a second CONNECT":  `CONNECT {"name":"` + strings.Repeat("x", 1<<20),
		"nonsense":          "\x00\xff\x16\x03\x01",
		"a route's":         "RS+ x th.> \r\n",
	} {
		nc := speak(t, o)
		_, _ = io.WriteString(nc, sends) // the server may not wait for the end
		said, err := io.ReadAll(nc)
		var late net.Error
		if errors.As(err, &late) && late.Timeout() || !strings.HasPrefix(string(said), "+OK") {
			t.Errorf("what is %s: the server says %q, and it ends with %v", what, said, err)
		}
		if what == "too large" && !strings.Contains(string(said), "Maximum Payload Violation") {
			t.Errorf("what is too large: the server says %q", said)
		}
		talks(t, a)
	}
}

package fleet_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/roster"
)

// crowdVariable has the program of these tests be a crowd.
const crowdVariable = "TERMHOST_TEST_CROWD"

// crowd is many hosts that do nothing but say that they are there.
type crowd struct {
	Server    string
	Authority []byte
	Hosts     []crowdHost

	sent, received atomic.Int64
}

// crowdHost is one of them.
type crowdHost struct {
	Name string
	Seed []byte
}

// crowdMain reads a crowd from stdin, says when all are connected, and then answers what is asked.
func crowdMain() error {
	in := bufio.NewReader(os.Stdin)
	var c crowd
	text, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return err
	}
	nodes, err := c.connect()
	if err != nil {
		return err
	}
	fmt.Println("connected")
	for {
		switch line, _ := in.ReadString('\n'); line {
		case "beat\n":
			for _, n := range nodes {
				go beat(n)
			}
			fmt.Println("ok")
		case "count\n":
			fmt.Println(c.sent.Load(), c.received.Load())
		default: // the end
			return nil
		}
	}
}

// connect connects all hosts, some at a time: a server refuses those that are long in it.
func (c *crowd) connect() ([]*bus.Node, error) {
	nodes, errs := make([]*bus.Node, len(c.Hosts)), make([]error, len(c.Hosts))
	slots := make(chan struct{}, 16)
	var all sync.WaitGroup
	for i, h := range c.Hosts {
		slots <- struct{}{}
		all.Go(func() {
			nodes[i], errs[i] = bus.New(h.Name, c.link(h), bus.Handlers{})
			<-slots
		})
	}
	all.Wait()
	return nodes, errors.Join(errs...)
}

// link makes a host's connection for control, which listens for what a host that is no door
// listens for.
func (c *crowd) link(h crowdHost) bus.Connect {
	return func(bus.Receiver) (bus.Link, error) {
		key, err := nkeys.FromSeed(h.Seed)
		if err != nil {
			return nil, err
		}
		public, err := key.PublicKey()
		if err != nil {
			return nil, err
		}
		tls, err := roster.ClientTLS(c.Authority)
		if err != nil {
			return nil, err
		}
		nc, err := nats.Connect(c.Server, nats.Nkey(public, key.Sign), nats.Secure(tls),
			nats.PingInterval(5*time.Second), nats.Timeout(time.Minute), nats.SetCustomDialer(c))
		if err != nil {
			return nil, err
		}
		for _, subject := range []string{"th.*." + h.Name + ".c", "th.home.all.c"} {
			if _, err := nc.Subscribe(subject, func(*nats.Msg) {}); err != nil {
				return nil, err
			}
		}
		return crowdLink{nc, "th." + h.Name + ".all.c"}, nc.Flush()
	}
}

// Dial makes a connection whose bytes are counted. It is nats.CustomDialer's.
func (c *crowd) Dial(network, address string) (net.Conn, error) {
	nc, err := net.Dial(network, address)
	return countedConn{nc, c}, err
}

type countedConn struct {
	net.Conn
	c *crowd
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.c.received.Add(int64(n))
	return n, err
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.c.sent.Add(int64(n))
	return n, err
}

// crowdLink is a bus.Link on which a host announces itself and nothing else.
type crowdLink struct {
	nc  *nats.Conn
	all string // the subject
}

func (l crowdLink) SendAll(p []byte) error               { return l.nc.Publish(l.all, p) }
func (l crowdLink) Send(string, bus.Class, []byte) error { return errors.ErrUnsupported }
func (l crowdLink) Hear([]string) error                  { return nil }
func (l crowdLink) Reconnect()                           {}
func (l crowdLink) Close() error                         { l.nc.Close(); return nil }

// beat announces a host every three seconds, give or take half a second, as a host does that has
// labels and terminals.
func beat(n *bus.Node) {
	names := make([]byte, 256)
	for i := range names {
		names[i] = byte(rand.Uint32())
	}
	sign, _ := json.Marshal(map[string]any{ // it has nothing that cannot be marshalled
		"boot": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "version": "v0.1.0", "terminals": 12, "roster": 1,
		"labels": map[string]string{"zone": "eu", "gpu": "a100"}, "names": names,
	})
	for time.Sleep(rand.N(3 * time.Second)); ; time.Sleep(2500*time.Millisecond +
		rand.N(time.Second)) {
		if err := n.Announce(sign); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

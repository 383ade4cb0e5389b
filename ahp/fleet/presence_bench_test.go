package fleet_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// BenchmarkPresence has a door, which is the fleet's home with its server, hear the heartbeats of
// as many hosts as a fleet may have. They are in another process, and each has a connection of its
// own over TLS. The other connection of a real host, for what streams carry, is not there: all
// together would be more than the 20,000 files that many systems let a process open.
func BenchmarkPresence(b *testing.B) {
	hosts := slowtest.Amount(roster.MaxHosts, 20)
	lasts := slowtest.Amount(30*time.Second, 100*time.Millisecond)
	folder := roster.Folder(b.TempDir())
	listen := fmt.Sprintf("127.%d.%d.%d:7723", 1+rand.IntN(254), rand.IntN(255), 1+rand.IntN(254))
	hosttest.Check(b, folder.Found("home", listen, []string{"tls://" + listen}))
	crowd := newCrowd(b, folder, hosts-1)
	door, err := fleet.Open(fleet.Options{Folder: folder, Version: "1",
		Terminals: func() int { return 1 }, Log: slog.New(slog.DiscardHandler)})
	hosttest.Check(b, err)
	defer door.Close()
	alone := heap()
	c := startCrowd(b, crowd)
	connected := heap()
	c.ask("beat")
	hosttest.Eventually(b, "all hosts are there", func() bool {
		list, err := door.Survey(b.Context())
		hosttest.Check(b, err)
		for _, h := range list {
			if !h.Reachable {
				return false
			}
		}
		return len(list) == hosts
	})
	known := heap()
	sent, received := c.counts()
	began, used := time.Now(), processorTime()
	for b.Loop() {
		time.Sleep(lasts)
	}
	took := time.Since(began).Seconds()
	used = processorTime() - used
	moreSent, moreReceived := c.counts()
	b.ReportMetric(100*used.Seconds()/took, "%-of-a-core")
	b.ReportMetric(float64(moreSent-sent)/1e3/took, "kB-in/s")
	b.ReportMetric(float64(moreReceived-received)/1e3/took, "kB-out/s")
	b.ReportMetric((connected-alone)/float64(hosts), "B/connection")
	b.ReportMetric((known-connected)/float64(hosts), "B/host-known")
	b.ReportMetric(0, "ns/op")
}

// newCrowd makes hosts members of a fleet.
func newCrowd(b *testing.B, folder roster.Folder, n int) *crowd {
	b.Helper()
	c := new(crowd)
	m, err := folder.Membership()
	hosttest.Check(b, err)
	c.Server, c.Authority = m.Servers[0], m.Authority
	_, err = folder.Change(func(r roster.Roster) (roster.Roster, error) {
		r.Version++
		for i := range n { // sorted: home comes before host
			key, err := nkeys.CreateUser()
			hosttest.Check(b, err)
			public, err := key.PublicKey()
			hosttest.Check(b, err)
			seed, err := key.Seed()
			hosttest.Check(b, err)
			name := fmt.Sprintf("host%05d", i)
			c.Hosts = append(c.Hosts, crowdHost{name, seed})
			r.Members = append(r.Members, roster.Member{Name: name, Key: public})
		}
		return r, nil
	})
	hosttest.Check(b, err)
	return c
}

// crowdProcess is the process of a crowd.
type crowdProcess struct {
	b   *testing.B
	in  io.Writer
	out *bufio.Reader
}

// startCrowd starts hosts, and waits until all are connected.
func startCrowd(b *testing.B, c *crowd) *crowdProcess {
	b.Helper()
	in, out := hosttest.Again(b, crowdVariable, c)
	p := &crowdProcess{b, in, bufio.NewReader(out)}
	p.answer()
	return p
}

// ask has the crowd do something, and returns what it answers.
func (p *crowdProcess) ask(what string) string {
	p.b.Helper()
	_, err := fmt.Fprintln(p.in, what)
	hosttest.Check(p.b, err)
	return p.answer()
}

func (p *crowdProcess) answer() string {
	p.b.Helper()
	line, err := p.out.ReadString('\n')
	hosttest.Check(p.b, err)
	return strings.TrimSpace(line)
}

// counts returns how many bytes the hosts have sent and received on their connections.
func (p *crowdProcess) counts() (sent, received int) {
	p.b.Helper()
	_, err := fmt.Sscan(p.ask("count"), &sent, &received)
	hosttest.Check(p.b, err)
	return sent, received
}

// heap returns how many bytes of memory are in use.
func heap() float64 {
	runtime.GC()
	runtime.GC() // what finalizers have released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// processorTime returns what this process, without its children, has used.
func processorTime() time.Duration {
	var ru syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru) // it cannot fail
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"

	"golang.org/x/crypto/ssh"
)

// The load of a soak.
const (
	soakClients   = 200
	soakTerminals = 50
	soakKeys      = 4 // an admin's and operators'; each is under a key's quotas

	killedPercent  = 5 // of the connections are cut off
	stalledPercent = 2 // read nothing after a while, until they end

	// stay is how long a connection lasts on average, in which it types now and then.
	stay      = 10 * time.Second
	typeEvery = time.Second

	echoEvery  = 50 * time.Millisecond
	printEvery = time.Minute
)

// What may be left at the end: the runtime keeps some memory and some idle connections, and what is
// lost with each of thousands of connections is far more.
const (
	leftGoroutines  = 10
	leftDescriptors = 10
	leftMemory      = 32 << 10 // KiB
	// returns is how long the host may take for that: Go gives memory back in the background.
	returns = 4 * time.Minute
)

// figures are what a host takes.
type figures struct {
	goroutines  int
	descriptors int // its keeper's included
	memory      int // KiB in RAM; likewise
}

func (f figures) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MiB", f.goroutines, f.descriptors,
		float64(f.memory)/1024)
}

// soak is a run.
type soak struct {
	host  *Host
	dir   string
	keys  []ssh.Signer
	terms []string // NAMEs
	ctx   context.Context

	tokens []string // of the keys

	connections, killed, stalled, failed atomic.Int64

	mu      sync.Mutex
	echoes  []time.Duration // since the last print
	all     []time.Duration
	failure error // the last one
}

var soakTime = flag.Duration("soak", 5*time.Second, "how long TestSoak puts a host under load")

// TestSoak runs a host with clients that come and go, and prints how that goes. The host must come
// back to what it took before. For longer than in a usual run:
//
//	TERMHOST_SLOW=1 go test ./cmd/termhost/bench -run Soak -soak 12m -timeout 0 -v
func TestSoak(t *testing.T) {
	slowtest.Skip(t)
	dir := t.TempDir()
	program, err := hosttest.Build(dir)
	hosttest.Check(t, err)
	hosttest.Check(t, runSoak(t.Context(), program, dir, *soakTime, t.Output()))
}

func runSoak(ctx context.Context, program, dir string, d time.Duration, out io.Writer) error {
	s := &soak{dir: dir}
	end, err := s.start(program)
	if err != nil {
		return err
	}
	defer end()
	before, err := s.figures()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d clients and %d terminals for %s; before: %s\n",
		soakClients, soakTerminals, d, before)
	if err := s.load(ctx, d, out); err != nil {
		return err
	}
	after, err := s.settle(ctx, before)
	fmt.Fprintf(out, "after: %s\n", after)
	fmt.Fprintf(out, "%d connections, %d of them cut off, %d stalled, %d refused or lost; "+
		"echo of a quiet terminal p50 %.2f ms, p99 %.2f ms\n", s.connections.Load(),
		s.killed.Load(), s.stalled.Load(), s.failed.Load(),
		ms(Percentile(s.all, 50)), ms(Percentile(s.all, 99)))
	if s.failure != nil {
		fmt.Fprintf(out, "the last failure: %v\n", s.failure)
	}
	return err
}

// start starts the host, makes its keys and their tokens.
func (s *soak) start(program string) (end func(), err error) {
	var lines []byte
	var more strings.Builder
	for i := range soakKeys {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, signer)
		lines = append(lines, ssh.MarshalAuthorizedKey(signer.PublicKey())...)
		role := "operator"
		if i == 0 {
			role = "admin"
		}
		fmt.Fprintf(&more, "[[principal]]\nname = \"k%d\"\nrole = %q\nkeys = [%q]\n", i, role,
			ssh.FingerprintSHA256(signer.PublicKey()))
	}
	if s.host, end, err = startHost(program, s.dir, lines, more.String()); err != nil {
		return nil, err
	}
	for _, key := range s.keys {
		token, err := s.ask(key, "token")
		if err != nil {
			end()
			return nil, err
		}
		s.tokens = append(s.tokens, strings.TrimSpace(token))
	}
	return end, nil
}

// ask runs a verb and returns what it prints.
func (s *soak) ask(key ssh.Signer, verb string) (string, error) {
	c, err := dialSSH(s.host.address(), key)
	if err != nil {
		return "", err
	}
	defer c.Close()
	session, err := c.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close()
	out, err := session.Output(verb)
	if err != nil {
		return "", fmt.Errorf("%s: %w", verb, err)
	}
	return string(out), nil
}

// url returns an address of the host's HTTP door.
func (s *soak) url(scheme, path string) string {
	_, rest, _ := strings.Cut(s.host.Find("ws://"), "://")
	address, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + address + path
}

// figures asks the host and the system.
func (s *soak) figures() (f figures, err error) {
	client := http.Client{Timeout: patience,
		Transport: &http.Transport{DisableKeepAlives: true}} // it would count itself
	resp, err := client.Get(s.url("http", "/metrics"))
	if err != nil {
		return f, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return f, err
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			f.goroutines, err = strconv.Atoi(strings.TrimSpace(n))
		}
	}
	if err != nil || f.goroutines == 0 {
		return f, fmt.Errorf("/metrics tells of no goroutines: %w", err)
	}
	for _, p := range servers(s.host.Cmd.Process.Pid, s.dir, hostNames()) {
		f.descriptors += p.descriptors()
		f.memory += p.resident()
	}
	return f, nil
}

// load has the clients come and go for d.
func (s *soak) load(ctx context.Context, d time.Duration, out io.Writer) error {
	if err := s.makeTerminals(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	s.ctx = ctx
	quiet, err := s.quiet()
	if err != nil {
		return err
	}
	defer quiet.Close()
	var all sync.WaitGroup
	for i := range soakClients {
		all.Go(func() { s.client(i) })
	}
	all.Go(func() { s.echo(quiet) })
	start, minute := time.Now(), time.NewTicker(printEvery)
	defer minute.Stop()
	for ctx.Err() == nil {
		select {
		case <-minute.C:
			s.print(out, time.Since(start))
		case <-s.host.Ended:
			cancel()
			all.Wait()
			return fmt.Errorf("the host has ended: %w", s.host.Err)
		case <-ctx.Done():
		}
	}
	all.Wait()
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	quiet.Close()
	_, err = s.ask(s.keys[0], "rm "+strings.Join(append(s.terms, quietName), " "))
	return err
}

// print prints how it stands.
func (s *soak) print(out io.Writer, at time.Duration) {
	f, err := s.figures()
	if err != nil {
		fmt.Fprintf(out, "%s: %v\n", at.Round(time.Second), err)
		return
	}
	s.mu.Lock()
	p50, p99 := Percentile(s.echoes, 50), Percentile(s.echoes, 99)
	s.all = append(s.all, s.echoes...)
	s.echoes = nil
	s.mu.Unlock()
	fmt.Fprintf(out, "%s: %s; %d connections so far; echo p50 %.2f ms, p99 %.2f ms\n",
		at.Round(time.Second), f, s.connections.Load(), ms(p50), ms(p99))
}

// settle waits until the host takes no more than it did before.
func (s *soak) settle(ctx context.Context, before figures) (f figures, err error) {
	s.mu.Lock()
	s.all = append(s.all, s.echoes...)
	s.mu.Unlock()
	for deadline := time.Now().Add(returns); ; {
		if f, err = s.figures(); err != nil {
			return f, err
		}
		var over []string
		for what, more := range map[string]int{
			"goroutines":    f.goroutines - before.goroutines - leftGoroutines,
			"descriptors":   f.descriptors - before.descriptors - leftDescriptors,
			"KiB of memory": f.memory - before.memory - leftMemory,
		} {
			if more > 0 {
				over = append(over, what)
			}
		}
		if len(over) == 0 {
			return f, nil
		}
		slices.Sort(over)
		if time.Now().After(deadline) {
			return f, fmt.Errorf("these did not come back to where they were: %s",
				strings.Join(over, ", "))
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return f, context.Cause(ctx)
		}
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

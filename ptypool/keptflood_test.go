package ptypool

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/keeper"
	"termhost/ptypool/termlog"
)

const (
	floodID = "flood"
	// floodLog, in bytes, holds more than one round of the flood prints.
	floodLog = 16 << 20
)

// logging is a Handler that logs the output.
type logging struct {
	quiet
	log *termlog.Log
}

func (l logging) Output(p []byte) {
	if _, err := l.log.Append(termlog.Data, time.Now(), p); err != nil {
		panic(err)
	}
}

// deferring is a Handler that logs the output of several batches at once.
type deferring struct {
	quiet
	next     keeper.Batch
	unlogged keeper.Unlogged

	mu  sync.Mutex // guards log
	log *termlog.Log
}

func (d *deferring) Defer(b keeper.Batch) { d.next = b }

func (d *deferring) Output([]byte) { d.unlogged.Add(d.next, time.Now()) }

func (d *deferring) Flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.unlogged.Take() {
		w.Place(d.log.End())
		if _, err := d.log.Append(termlog.Data, w.At, w.Bytes()); err != nil {
			panic(err)
		}
		w.Free()
	}
}

// flushNow and then flushes, as a host does for an event or a reader of the log.
func (d *deferring) flushNowAndThen() {
	for range time.Tick(700 * time.Microsecond) {
		d.Flush()
	}
}

// runFloodHost is a host that starts a numbered flood, or takes it from its keeper, and logs it
// until it is killed. Its arguments are the folders of the keeper and of the log, and when it logs:
// "deferred" or "at once".
func runFloodHost(args []string) int {
	if err := hostFlood(args[0], args[1], args[2] == "deferred"); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func hostFlood(dir, logDir string, deferred bool) error {
	link := linkTo(dir)
	client, err := link.Connect()
	if err != nil {
		return err
	}
	all, err := client.List()
	if err != nil {
		return err
	}
	open := termlog.Open
	if len(all) == 0 {
		open = func(dir string) (*termlog.Log, error) { return termlog.Create(dir, floodLog) }
	}
	log, err := open(logDir)
	if err != nil {
		return err
	}
	p := New(Config{Starter: link})
	spec := Spec{
		Argv: []string{"/usr/bin/seq", "1", "1000000000"}, Cols: 80, Rows: 24,
		Keep: Keep{ID: floodID, Log: logDir},
	}
	var k *keeper.Child
	if len(all) > 0 {
		if k, err = client.Take(floodID); err != nil {
			return err
		}
		log.Close()
		// The keeper may have written meanwhile.
		if log, err = termlog.Open(logDir); err != nil {
			return err
		}
		spec.Marker = all[0].Marker
	}
	spec.Keep.LogEnd = log.End
	var h Handler = logging{log: log}
	if deferred {
		d := &deferring{log: log}
		go d.flushNowAndThen()
		spec.Keep.Deferred, h = d, d
	}
	if k == nil {
		_, err = p.Start(spec, h)
	} else {
		_, err = p.Take(k, spec, h)
	}
	if err != nil {
		return err
	}
	fmt.Println("up")
	select {} // until it is killed
}

// hostProcess runs this test binary as one of the other programs, and waits until that says that it
// is up. said is what it says after that.
func hostProcess(t *testing.T, args ...string) (host *exec.Cmd, said *bufio.Reader) {
	t.Helper()
	host = exec.Command(os.Args[0], args...)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := startUntagged(host); err != nil {
		t.Fatal(err)
	}
	said = bufio.NewReader(out)
	if line, err := said.ReadString('\n'); line != "up\n" {
		t.Fatalf("the host says %q, %v", line, err)
	}
	return host, said
}

// endKept takes a terminal from a keeper and ends it.
func endKept(t *testing.T, link *keeper.Link, id string) {
	t.Helper()
	client, err := link.Connect()
	if err != nil {
		t.Fatal(err)
	}
	k, err := client.Take(id)
	if err != nil {
		t.Fatal(err)
	}
	New(Config{}).EndKept(k)
}

// Hosts are killed at random moments of a flood.
func TestNoByteIsLostWhenTheHostIsKilled(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"deferred", "at once"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			killFloods(t, when)
		})
	}
}

// killFloods kills one host after the other. when is when they log.
func killFloods(t *testing.T, when string) {
	kills := 10
	if slowtest.On(t) {
		kills = 20
	}
	link, logDir := newLink(t), t.TempDir()
	next := int64(1) // the number of the line that has not been seen whole
	for k := range kills {
		// Another host cannot connect while this one is.
		client, err := link.Connect()
		if err != nil {
			t.Fatal(err)
		}
		client.Close()
		host, _ := hostProcess(t, asHost, link.Dir, logDir, when)
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		if err := host.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = host.Wait()
		last := checkFlood(t, link, logDir, next)
		if t.Failed() {
			t.Fatalf("after kill %d", k+1)
		}
		next = last
	}
	t.Logf("%d lines, each of them once, across %d kills", next-1, kills)
	endKept(t, link, floodID)
}

// checkFlood has the keeper read some of the flood and then checks that the log has every line from
// line next on, once. It returns the number of the line that the log ends in.
func checkFlood(t *testing.T, link *keeper.Link, logDir string, next int64) int64 {
	t.Helper()
	client, err := link.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	taken, err := client.Take(floodID) // the keeper has stopped to read then
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	log, err := termlog.Open(logDir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var all []byte
	pos := int64(-1)
	if err := log.Read(0, func(r termlog.Record) bool {
		if pos >= 0 && r.Pos != pos {
			t.Errorf("a record at %d follows one that ends at %d", r.Pos, pos)
		}
		all = append(all, r.Payload...)
		pos = r.Pos + int64(len(r.Payload))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if log.First() > 0 {
		_, all, _ = bytes.Cut(all, []byte("\n")) // the head of the log is gone
	}
	want := int64(-1)
	for line := range bytes.Lines(all) {
		number, whole := bytes.CutSuffix(line, []byte("\r\n"))
		if !whole {
			break // the last one
		}
		n, err := strconv.ParseInt(string(number), 10, 64)
		if want < 0 {
			want = n
		}
		if err != nil || n != want {
			t.Errorf("there is %q where line %d belongs", line, want)
			return 0
		}
		want++
	}
	want = max(want, 1) // the first host may have been killed before it logged a line
	if want < next {
		t.Errorf("the log ends with line %d: it had line %d", want, next)
	}
	return want
}

// BenchmarkStart compares how long a program takes to be started by this process and by a keeper.
func BenchmarkStart(b *testing.B) {
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("kept=%v", kept), func(b *testing.B) {
			var cfg Config
			if kept {
				cfg.Starter = newLink(b)
			}
			p := New(cfg)
			for b.Loop() {
				term, err := p.Start(Spec{Argv: []string{"/bin/true"}, Cols: 80, Rows: 24}, quiet{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				<-term.Done()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkKeptFlood is BenchmarkFlood's Term, of this process and of a keeper, with a log and
// without.
func BenchmarkKeptFlood(b *testing.B) {
	path := floodFile(b)
	for _, kept := range []bool{false, true} {
		for _, logged := range []bool{false, true} {
			b.Run(fmt.Sprintf("kept=%v/logged=%v", kept, logged), func(b *testing.B) {
				var cfg Config
				if kept {
					cfg.Starter = newLink(b)
				}
				p := New(cfg)
				flood(b, func() {
					spec := Spec{Argv: []string{"/bin/cat", path}, Cols: 120, Rows: 40}
					var h Handler = quiet{}
					if logged {
						dir := b.TempDir()
						log, err := termlog.Create(dir, 4<<20)
						if err != nil {
							b.Fatal(err)
						}
						defer log.Close()
						d := &deferring{log: log}
						spec.Keep.Log, spec.Keep.LogEnd, spec.Keep.Deferred = dir, log.End, d
						if h = d; !kept {
							h = logging{log: log}
						}
					}
					term, err := p.Start(spec, h)
					if err != nil {
						b.Fatal(err)
					}
					<-term.Done()
				})
			})
		}
	}
}

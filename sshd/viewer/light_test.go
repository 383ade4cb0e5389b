package viewer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// seat is a person at a window, whose viewer runs. It is the viewer's IO.
type seat struct {
	t    *testing.T
	size Window
	w    *viewer
	in   *io.PipeWriter
	read *io.PipeReader
	dir  string
	wg   sync.WaitGroup

	host    *host.Host
	status  *Status
	resized chan struct{}

	mu  sync.Mutex
	out []byte
}

func (s *seat) Stdin() io.Reader               { return s.read }
func (s *seat) Stdout() io.Writer              { return s }
func (s *seat) Stderr() io.Writer              { return s }
func (s *seat) Terminal() (string, bool)       { return "xterm", true }
func (s *seat) Draws() bool                    { return true }
func (s *seat) Resized() <-chan struct{}       { return s.resized }
func (s *seat) Signals() <-chan syscall.Signal { return nil }
func (s *seat) Env() []string                  { return nil }
func (s *seat) Go(_ string, f func())          { s.wg.Go(f) }

func (s *seat) Window() Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

func (s *seat) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, p...)
	return len(p), nil
}

// all returns all that the person's terminal has got.
func (s *seat) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.out)
}

// screen returns what it shows.
func (s *seat) screen() *vt.Screen {
	screen := vt.New(s.size.Cols, s.size.Rows, vt.Options{ScrollbackLines: 5000})
	screen.Feed([]byte(s.all()), nil)
	return screen
}

// rows returns which rows show text, counted from 0.
func (s *seat) rows(text string) (rows []int) {
	for y, line := range strings.Split(string(s.screen().AppendText(nil, false)), "\n") {
		if strings.Contains(line, text) {
			rows = append(rows, y)
		}
	}
	return rows
}

func (s *seat) shows(text string) bool { return len(s.rows(text)) > 0 }

func (s *seat) sees(text string) {
	s.t.Helper()
	hosttest.Eventually(s.t, "the person sees "+text, func() bool { return s.shows(text) })
}

func (s *seat) types(text string) {
	s.t.Helper()
	_, err := io.WriteString(s.in, text)
	hosttest.Check(s.t, err)
}

// goesOn has a program read a line from go.
func (s *seat) goesOn() {
	s.t.Helper()
	hosttest.Check(s.t, os.WriteFile(filepath.Join(s.dir, "go"), []byte("\n"), 0))
}

// says has the viewer show a notice that does not end by itself in this test.
func (s *seat) says(lines ...string) { s.w.say(overlay{lines: lines, lasts: time.Hour}) }

// sits has a person look at what line runs in a window of 40 by 10. It may read from go and write
// to typed.
func sits(t *testing.T, line string) *seat {
	t.Helper()
	s := newSeat(t)
	c := s.connect("ann")
	made, err := c.Create(host.CreateOptions{Dir: s.dir, Line: "stty -icanon -echo; " + line,
		Attach: &host.AttachOptions{Cols: 40, Rows: 10}})
	hosttest.Check(t, err)
	s.watches(c, made.Attach, made.First)
	return s
}

// newSeat returns a seat without a viewer at a new host.
func newSeat(t *testing.T) *seat {
	t.Helper()
	s := &seat{t: t, size: Window{Cols: 40, Rows: 10}, dir: t.TempDir(), host: hosttest.New(t),
		resized: make(chan struct{}, 1)}
	hosttest.Check(t, syscall.Mkfifo(filepath.Join(s.dir, "go"), 0o600))
	return s
}

// connect returns a connection of a person who is an admin.
func (s *seat) connect(name string) *host.Conn {
	s.t.Helper()
	c, err := s.host.Connect(hosttest.Principal(name, authz.Admin), host.DoorSSH)
	hosttest.Check(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

// another has the person look at the same from another window.
func (s *seat) another(size Window) *seat {
	s.t.Helper()
	o := &seat{t: s.t, size: size, dir: s.dir}
	a, first, err := s.w.s.Conn.Attach(s.w.t, host.AttachOptions{Cols: size.Cols, Rows: size.Rows,
		ReadOnly: true})
	hosttest.Check(s.t, err)
	o.watches(s.w.s.Conn, a, first)
	return o
}

func (s *seat) watches(c *host.Conn, a *host.Attach, first []byte) {
	s.read, s.in = io.Pipe()
	ctx, cancel := context.WithCancel(s.t.Context())
	session := &Session{IO: s, Conn: c, Prefix: 0x1c, Buffers: &Buffers{}, Status: s.status,
		ComeBack: func(string) string { return "" }, Ended: func() error { return nil }}
	s.w = newViewer(ctx, session, a, Options{Unasked: true})
	s.w.enter()
	s.Go("", s.w.typed.run)
	s.Go("", func() { s.w.finish(s.w.watch(first)) })
	s.t.Cleanup(func() {
		cancel()
		s.in.Close()
		s.wg.Wait()
		a.Close()
	})
}

// text2000 is what seq 2000 prints.
func text2000() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "%d\r\n", i+1)
	}
	return b.String()
}

// What a program prints under a notice reaches the terminal byte for byte, and takes the notice
// away before.
func TestOutputEndsANoticeAndIsTheProgramsOwn(t *testing.T) {
	s := sits(t, `printf 'ready\033[3;8r\033[5;5H\033[7m'; until read x <go; do :; done; seq 2000; printf END; exec sleep 1000`)
	s.sees("ready")
	s.says("one notice", "of two lines")
	s.sees("of two lines")
	before := s.all()
	s.goesOn()
	want := text2000() + "END"
	hosttest.Eventually(t, "all is there", func() bool { return strings.HasSuffix(s.all(), "END") })
	back, exact := strings.CutSuffix(s.all()[len(before):], want)
	if !exact {
		t.Fatalf("the output is %.300q ...", back)
	}
	screen := vt.New(40, 10, vt.Options{})
	screen.Feed([]byte(before+back), nil)
	plain := vt.New(40, 10, vt.Options{})
	plain.Feed([]byte("ready\x1b[3;8r\x1b[5;5H\x1b[7m"), nil)
	if a, b := screen.AppendRedraw(nil, vt.Redraw{}), plain.AppendRedraw(nil, vt.Redraw{}); string(a) != string(b) {
		t.Errorf("without the notice the terminal is as by\n%q, want\n%q", a, b)
	}
}

// In a window of another size, where all is drawn, output and keys end a notice, too.
func TestANoticeEndsInAWindowOfAnotherSize(t *testing.T) {
	s := sits(t, `printf ready; until read x <go; do :; done; printf more; exec sleep 1000`)
	s.sees("ready")
	for _, size := range []Window{{Cols: 30, Rows: 8}, {Cols: 60, Rows: 20}} {
		o := s.another(size)
		o.sees("ready")
		o.says("a notice")
		o.sees("a notice")
		o.types("k")
		hosttest.Eventually(t, "a key takes it away", func() bool { return !o.shows("a notice") })
		o.sees("read-only") // which is why it is not typed
		o.says("another one")
		o.sees("another one")
		defer func() {
			hosttest.Eventually(t, "output takes it away", func() bool {
				return o.shows("readymore") && !o.shows("another one")
			})
		}()
	}
	s.goesOn()
}

// The first key for the program takes a notice away and is typed. What a terminal sends by itself
// does not, although the program gets it.
func TestTheFirstKeyTakesANoticeAwayAndIsTyped(t *testing.T) {
	s := sits(t, `printf '\033[?1000;1006;1004hready'; exec cat >typed`)
	s.sees("ready")
	s.says("a notice")
	s.sees("a notice")
	typed := func(want string) {
		t.Helper()
		hosttest.Eventually(t, want+" is typed", func() bool {
			got, _ := os.ReadFile(filepath.Join(s.dir, "typed"))
			return string(got) == want
		})
	}
	s.types("\x1b[<0;1;1M\x1b[I")
	typed("\x1b[<0;1;1M\x1b[I")
	if !s.shows("a notice") {
		t.Error("a click takes it away")
	}
	s.types("k")
	typed("\x1b[<0;1;1M\x1b[Ik")
	hosttest.Eventually(t, "the notice goes", func() bool { return !s.shows("a notice") })
	hosttest.Eventually(t, "keys cost nothing any more", func() bool { return !s.w.lit.Load() })
}

// A notice leaves the row of the cursor as it is, and the cursor there.
func TestANoticeIsNotOverTheCursor(t *testing.T) {
	for _, c := range []struct{ row, lines, from int }{
		{1, 1, 9}, {9, 1, 9}, {10, 1, 0}, {10, 3, 0}, {5, 3, 7}, {8, 3, 0},
	} {
		s := sits(t, fmt.Sprintf(`printf '\033[%d;3Hprompt'; exec sleep 1000`, c.row))
		s.sees("prompt")
		lines := make([]string, c.lines)
		for i := range lines {
			lines[i] = "notice"
		}
		s.says(lines...)
		s.sees("notice")
		if rows := s.rows("notice"); rows[0] != c.from || len(rows) != c.lines {
			t.Errorf("with the cursor in row %d it is in the rows %v", c.row, rows)
		}
		x, y, _ := s.screen().Cursor()
		if x != 8 || y != c.row-1 || !slices.Equal(s.rows("prompt"), []int{y}) {
			t.Errorf("the cursor in row %d is at %d, %d", c.row, x, y)
		}
	}
}

func TestANoticeHasTheRoomThatTheCursorLeaves(t *testing.T) {
	for rows := 1; rows <= 8; rows++ {
		for cursor := range rows {
			for n := 1; n <= 9; n++ {
				o := overlay{lines: make([]string, n), lasts: time.Hour}
				from, lines := o.place(Window{Cols: 10, Rows: rows}, cursor)
				above, below := cursor, rows-1-cursor
				if want := min(n, max(above, below)); len(lines) != want ||
					want > 0 && cursor >= from && cursor < from+want || from+len(lines) > rows ||
					want > 0 && want <= below && from+want != rows {
					t.Errorf("of %d rows, %d lines cover %d from %d on; the cursor is in %d",
						rows, n, len(lines), from, cursor)
				}
			}
		}
	}
}

// A notice that cannot be shown soon is no news any more, and a newer one is better.
func TestANoticeWaitsForAPause(t *testing.T) {
	s := sits(t, "printf ready; exec sleep 1000")
	s.sees("ready")
	w := &viewer{showing: s.w.showing, s: s.w.s, canvas: canvas{window: s.Window()},
		front: newFront(true)}
	w.draws = true
	now := time.Now()
	w.cover(notice("old"))
	w.cover(notice("new"))
	if o := w.next(now); o.lines[0] != "termhost: new" || w.overlay.lines != nil || !w.givesWay() {
		t.Errorf("%q is next", o.lines)
	}
	w.waiting.keeps = true
	if w.givesWay() {
		t.Error("one that must be read gives way before it is shown")
	}
	w.printedAt = now
	if w.next(now.Add(outputPause-1)).lines != nil || w.next(now.Add(outputPause)).lines == nil {
		t.Error("it does not wait for the program")
	}
	w.typing.typed([]byte("k"))
	if at := w.typing.last(); w.next(at.Add(keyPause-1)).lines != nil || w.next(at.Add(keyPause)).lines == nil {
		t.Error("it does not wait for the person")
	}
	w.cover(overlay{lines: []string{"help"}})
	if due := w.waitingDue(); !due.IsZero() {
		t.Error("it is due while a key has to close something")
	}
	w.cover(overlay{})
	w.waiting.fresh, w.printedAt, w.typing = true, time.Time{}, typing{}
	if due := w.waitingDue(); !due.Equal(w.waiting.since.Add(firstOutput)) {
		t.Errorf("before the program has printed anything it is due %v after it came", due.Sub(w.waiting.since))
	}
	w.passTime(w.waiting.since.Add(mostWaiting - 1))
	if w.waiting.lines == nil {
		t.Error("it is dropped too soon")
	}
	w.passTime(w.waiting.since.Add(mostWaiting))
	if w.waiting.lines != nil {
		t.Error("it waits for ever")
	}
}

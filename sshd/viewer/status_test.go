package viewer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// lined is a seat with a status line, or with the choice of one, and a terminal that a test writes
// to: it holds the newest output.
type lined struct {
	*seat
	term *vt.Screen
	at   int // how much of the output it has got
}

// sitsLined has a person look at what line runs, in a window of 40 by 10.
func sitsLined(t *testing.T, on bool, line string) *lined {
	t.Helper()
	s := newSeat(t)
	s.status = NewStatus(on)
	c := s.connect("ann")
	var as host.AttachOptions
	(&Session{IO: s, Status: s.status}).Fit(&as)
	made, err := c.Create(host.CreateOptions{Name: "work", Dir: s.dir, Rows: as.Rows, Cols: as.Cols,
		Line: "stty -icanon -echo; " + line, Attach: &as})
	hosttest.Check(t, err)
	l := &lined{seat: s, term: vt.New(40, 10, vt.Options{ScrollbackLines: 5000})}
	s.watches(c, made.Attach, made.First)
	return l
}

// look brings the terminal up to date.
func (l *lined) look() *vt.Screen {
	all := l.all()
	l.term.Feed([]byte(all[l.at:]), nil)
	l.at = len(all)
	return l.term
}

// lines returns the rows of the person's terminal.
func (l *lined) lines() []string {
	return strings.Split(strings.TrimSuffix(string(l.look().AppendText(nil, false)), "\n"), "\n")
}

// has waits until a row, counted from 1, is text but for blanks around.
func (l *lined) has(row int, text string) {
	l.t.Helper()
	var rows []string
	hosttest.Eventually(l.t, fmt.Sprintf("row %d has %q", row, text), func() bool {
		rows = l.lines()
		return len(rows) >= row && isRow(rows[row-1], text)
	})
}

// resizes gives the person's terminal another size.
func (l *lined) resizes(w Window) {
	l.t.Helper()
	l.look()
	l.term.Resize(w.Cols, w.Rows)
	l.mu.Lock()
	l.size = w
	l.mu.Unlock()
	l.resized <- struct{}{}
}

// above returns the lines in the scrollback of the person's terminal.
func (l *lined) above() []string {
	all := strings.Split(string(l.look().AppendHistoryText(nil)), "\n")
	return all[:l.term.HistoryLines()]
}

// lineOf stands for a status line: what it begins and ends with.
const lineOf = "work ... your keyboard"

// isRow reports whether a row is text but for blanks around.
func isRow(row, text string) bool {
	row = strings.TrimSpace(row)
	from, to, part := strings.Cut(text, " ... ")
	return row == text || part && strings.HasPrefix(row, from) && strings.HasSuffix(row, to)
}

// The program has a row less, and whatever it does to its terminal stays above the status line.
func TestNoProgramDisturbsTheStatusLine(t *testing.T) {
	for name, c := range map[string]struct{ prints, last string }{
		"a reset":                   {`\033c\033[99;1HLAST`, "LAST"},
		"a soft reset":              {`\033[!p\033[99;1HLAST`, "LAST"},
		"no margins":                {`\033[r\033[99;1HLAST`, "LAST"},
		"a region":                  {`\033[2;4r\033[99;1HLAST\n\n\nMORE`, "MORE"},
		"erasing all":               {`\033[2J\033[J\033[3J\033[99;1HLAST`, "LAST"},
		"down below":                {`\033[1;3r\033[9;1H\033[99BLAST`, "LAST"},
		"a test picture":            {`\033#8`, strings.Repeat("E", 40)},
		"the alternate screen":      {`\033[?1049h\033[r\033[2J\033[99;1HLAST`, "LAST"},
		"the alternate screen left": {`\033[?1049h\033[2J\033[?1049l\033[99;1HLAST`, "LAST"},
		"another alternate screen":  {`\033[?47h\033[99;1HLAST`, "LAST"},
		"origin mode":               {`\033[2;9r\033[?6h\033[99;1HLAST`, "LAST"},
		"deleted lines":             {`\033[7;1HLAST\033[1;1H\033[2M\033[4L`, "LAST"},
		"a line that wraps":         {`\033[99;38H12345678`, "45678"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sitsLined(t, true, `stty size; until read x <go; do :; done; printf '`+c.prints+
				`'; exec sleep 1000`)
			s.has(1, "9 40")
			s.has(10, lineOf)
			s.goesOn()
			s.has(9, c.last)
			s.has(10, lineOf)
		})
	}
}

// What leaves the screen is in the scrollback of the person's terminal, once and in order, and no
// status line is.
func TestLinesAboveAStatusLineAreInTheScrollback(t *testing.T) {
	s := sitsLined(t, true, `seq 30; until read x <go; do :; done; seq 31 3000;
		printf '\033[?1049h\033[2Jfull\n\n\n\n\n\n\n\n\n\n\n\nscreen\033[?1049l'; seq 3001 3010; printf END; exec sleep 1000`)
	s.has(8, "30")
	s.goesOn()
	s.has(9, "END")
	var want []string
	for i := range 3010 - 8 {
		want = append(want, fmt.Sprint(i+1))
	}
	if got := s.above(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("above are %d lines: %.2000q", len(got), got)
	}
	s.has(10, lineOf)
}

// The prefix key and s turn it on and off. Nothing is lost, and nothing is left behind.
func TestAKeyTurnsTheStatusLineOnAndOff(t *testing.T) {
	s := sitsLined(t, false, `trap 'stty size' WINCH; seq 20; while :; do sleep 0.01; done`)
	s.has(9, "20")
	s.types("\x1cs")
	s.has(10, lineOf)
	s.has(9, "")
	s.has(8, "9 40")
	s.types("\x1cs")
	s.has(9, "10 40")
	if rows := s.lines(); strings.Contains(strings.Join(rows, "\n"), "keyboard") {
		t.Errorf("it is still there: %q", rows)
	}
	s.types("\x1cs")
	s.has(10, lineOf)
}

func TestTheStatusLineGoesWithTheWindow(t *testing.T) {
	s := sitsLined(t, true, `trap 'stty size' WINCH; echo ready; while :; do sleep 0.01; done`)
	s.has(1, "ready")
	s.has(10, lineOf)
	s.resizes(Window{Cols: 40, Rows: 14})
	s.has(14, lineOf)
	s.has(2, "13 40")
	s.resizes(Window{Cols: 40, Rows: 7})
	s.has(7, lineOf)
	hosttest.Eventually(t, "the program has a row less", func() bool { return s.shows("6 40") })
	s.resizes(Window{Cols: 40, Rows: 2})
	hosttest.Eventually(t, "it has no room", func() bool { return !s.shows("keyboard") })
	s.resizes(Window{Cols: 20, Rows: 10})
	s.has(10, "work ... \u2026")
}

// Another viewer without a status line has all that the program prints, and none of its own.
func TestAnotherViewerHasNoStatusLine(t *testing.T) {
	s := sitsLined(t, true, `echo ready; until read x <go; do :; done; printf '\033cmore'; exec sleep 1000`)
	s.has(10, lineOf)
	o := s.another(Window{Cols: 40, Rows: 9})
	o.sees("ready")
	s.goesOn()
	o.sees("more")
	if o.shows("keyboard") || !strings.Contains(o.all(), "\x1bc") {
		t.Errorf("the other viewer got %q", o.all())
	}
	s.has(10, lineOf)
}

// A notice is in the row, and not over the screen; it stays there while the program prints and the
// person types. A long one is read in pages.
func TestANoticeIsInTheStatusLine(t *testing.T) {
	s := sitsLined(t, true, `printf ready; until read x <go; do :; done; printf more; exec cat`)
	s.has(1, "ready")
	s.says("one notice", strings.Repeat("long ", 12))
	s.has(10, "one notice")
	s.goesOn()
	s.has(1, "readymore")
	s.types("key")
	s.has(1, "readymorekey")
	if rows := s.lines(); strings.TrimSpace(rows[9]) != "one notice" {
		t.Errorf("the notice has gone: %q", rows)
	}
	pages := s.w.pages(&overlay{lines: []string{"one notice", strings.Repeat("long ", 12)}})
	if len(pages) != 3 {
		t.Fatalf("the pages are %q", pages)
	}
	w := &viewer{canvas: canvas{window: Window{Cols: 40, Rows: 9}}, status: statusLine{rows: 1}}
	o := overlay{lines: []string{"one notice", strings.Repeat("long ", 12)}, lasts: noticeTime}
	now := time.Now()
	if o.until = now.Add(w.statusTime(&o)); w.statusTime(&o) != 3*noticeTime {
		t.Errorf("it lasts for %v", w.statusTime(&o))
	}
	for i, want := range []string{pages[0], pages[1], pages[2]} {
		at := now.Add(time.Duration(i)*noticeTime + time.Millisecond)
		w.status.turned(&o, at)
		if w.overlay = o; !strings.Contains(string(w.appendStatus(nil)), strings.TrimSpace(want)) {
			t.Errorf("page %d is %q", i, w.appendStatus(nil))
		}
	}
}

// The row has the progress of the program, how many terminals want the person, and who has the
// keyboard, as these change.
func TestTheStatusLineSaysHowThingsAre(t *testing.T) {
	s := sitsLined(t, true, `printf '\033]9;4;1;40\007\033]2;building\007'; until read x <go; do :; done; printf '\033]9;4;0\007'; exec sleep 1000`)
	s.has(10, "work  building ... your keyboard \u00b7 40 %")
	bob := s.connect("bob")
	a, _, err := bob.Attach(s.w.t, host.AttachOptions{Cols: 40, Rows: 10})
	hosttest.Check(t, err)
	defer a.Close()
	hosttest.Check(t, a.Claim())
	hosttest.Eventually(t, "bob has the keyboard", func() bool {
		return s.shows("work  bob has the keyboard \u00b7 40 %") || s.shows("bob has the keyboard \u00b7 40 %")
	})
	s.goesOn()
	hosttest.Eventually(t, "the progress is over", func() bool { return !s.shows("40 %") })
	_, err = bob.GiveName(s.w.t, "other")
	hosttest.Check(t, err)
	hosttest.Eventually(t, "it has another NAME", func() bool { return s.shows("other") })
}

// A viewer that ends, or shows something else, leaves nothing of the row behind, also where the
// program was on the alternate screen.
func TestNoStatusLineIsLeftBehind(t *testing.T) {
	for _, screen := range []string{"", `\033[?1049h`} {
		s := sitsLined(t, true, `seq 20; printf '`+screen+`ready'; exec sleep 1000`)
		hosttest.Eventually(t, "it is ready", func() bool { return s.shows("ready") })
		s.has(10, lineOf)
		s.types("\x1cd")
		hosttest.Eventually(t, "the person has left", func() bool {
			return s.shows("detached") && !s.shows("keyboard")
		})
		if len(s.rows("20")) != 1 {
			t.Errorf("the screen is %q", s.lines())
		}
	}
}

func TestAStatusLineSaysWhatHasRoom(t *testing.T) {
	info := host.Info{Name: "work", Title: "work", Program: "make all"}
	if got := statusAbout(info); got != "make all" {
		t.Errorf("what runs is %q", got)
	}
	info.Title = "a title"
	if got := statusAbout(info); got != "a title" {
		t.Errorf("what runs is %q", got)
	}
	for _, c := range []struct {
		is   ahp.Progress
		want string
	}{
		{ahp.Progress{}, ""}, {ahp.Progress{State: "normal", Percent: 7}, "7 %"},
		{ahp.Progress{State: "error", Percent: 7}, "7 % error"},
		{ahp.Progress{State: "indeterminate"}, "works"},
	} {
		if got := progressText(c.is); got != c.want {
			t.Errorf("the progress %v is %q", c.is, got)
		}
	}
}

// A question about an agent's input is answered above the status line as without one.
func TestAQuestionIsAnsweredAboveTheStatusLine(t *testing.T) {
	s := sitsLined(t, true, `echo ready; read x; echo "<$x>"; exec sleep 1000`)
	s.resizes(Window{Cols: 80, Rows: 24})
	hosttest.Eventually(t, "the line is the last row", func() bool {
		rows := s.lines()
		return len(rows) == 24 && strings.Contains(rows[23], "your keyboard")
	})
	hosttest.Check(t, s.w.s.Conn.SetGuard(s.w.t, true))
	p := hosttest.Principal("ann", authz.Admin)
	p.Token = "bot"
	agent, err := s.host.Connect(p, host.DoorWebSocket)
	hosttest.Check(t, err)
	t.Cleanup(agent.Close)
	s.Go("", func() { _ = agent.Send(t.Context(), s.w.t, []byte("whole\r")) })
	hosttest.Eventually(t, "keys answer", func() bool { return s.shows("y types it") })
	s.types("\x1cs")
	hosttest.Eventually(t, "the line is gone", func() bool { return !s.shows("your keyboard") })
	s.types("\x1cs")
	hosttest.Eventually(t, "the line is back", func() bool { return s.shows("your keyboard") })
	hosttest.Eventually(t, "keys answer", func() bool { return s.shows("y types it") })
	s.types("y")
	hosttest.Eventually(t, "it is typed", func() bool { return s.shows("<whole>") })
}

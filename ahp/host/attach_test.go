package host_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool/vt"
)

var window = host.AttachOptions{Cols: 80, Rows: 24}

func TestAnAttachShowsTheScreenAndWhatFollows(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "stty -icanon -echo; printf before; read x; printf after; read x")
	awaitOutput(t, h, term, "before")
	v := attach(t, h, carol, "x", window)
	v.shows("before")
	if err := v.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	v.shows("after")
	if !v.a.Holds() || v.a.Terminal() != term {
		t.Error("it does not hold its own")
	}
	v.a.Resize(100, 40)
	if info := term.Info(carol); info.Cols != 100 || info.Rows != 40 || info.Viewers != 1 {
		t.Errorf("%+v", info)
	}
	attach(t, h, bot, "x", host.AttachOptions{Cols: 30, Rows: 10}).a.Resize(20, 10)
	if info := term.Info(carol); info.Cols != 100 {
		t.Error("a viewer that does not hold the claim resizes")
	}
	huge := attach(t, h, carol, "x", host.AttachOptions{Cols: 5000, Rows: 5000})
	huge.typesIntoAnotherSize("x")
	if info := term.Info(carol); info.Cols != host.MaxCols || info.Rows != host.MaxRows {
		t.Errorf("a huge window makes it %dx%d", info.Cols, info.Rows)
	}
	if got := string(v.a.Restore()); !strings.Contains(got, "\x1b[?1049l") {
		t.Errorf("restore %q", got)
	}
}

func TestRedrawAndLiveStreamMeetWithoutGapOrDouble(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	const lines = 20000
	for _, o := range []host.AttachOptions{{}, window} {
		line := fmt.Sprintf("i=0; while [ $i -lt %d ]; do echo line-$i-end; i=$((i+1)); done; read x", lines)
		term := run(t, h, carol, "", line)
		var wg sync.WaitGroup
		for range 8 {
			v := attach(t, h, eve, term.Name(), o)
			wg.Go(func() {
				screen := vt.New(80, 24, vt.Options{ScrollbackLines: 2 * lines})
				screen.Feed(v.out, nil)
				done := func() bool {
					screen.Feed(v.out, nil)
					v.out = nil
					return strings.Contains(string(screen.AppendText(nil, false)),
						fmt.Sprintf("line-%d-end", lines-1))
				}
				for v.out = nil; !done(); {
					for v.pull() {
						done()
					}
					if !done() {
						<-v.a.Signal()
					}
				}
				next := -1
				for got := range strings.Lines(string(screen.AppendHistoryText(nil))) {
					var n int
					if _, err := fmt.Sscanf(got, "line-%d-end", &n); err != nil || next >= 0 && n != next {
						t.Errorf("after line %d comes %q", next-1, got)
						return
					}
					next = n + 1
				}
				if next != lines || v.lagged > 0 {
					t.Errorf("it ends with line %d; lagged %d times", next-1, v.lagged)
				}
			})
		}
		wg.Wait()
	}
}

func TestAThousandAttachesToAHistoryFullOfQueries(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	queries := `\033[c\033[>c\033[=c\033[5n\033[6n\033[?6n\033[>q\033P$qm\033\\\033]4;1;?\007\033]10;?\007\033]11;?\007\033]12;?\007\033]52;c;?\007\033[21t\033[18t\033[?u\033Z\005`
	dir := t.TempDir()
	// The script reads the answers that the host itself gives, up to that to the last query, and
	// then counts what else reaches the program's input.
	script := fmt.Sprintf(`stty raw -echo; mkfifo %s/go; printf '%s\033[?25$p'; until case $got in *'[?25;1$y') ;; *) false; esac; do got=$got$(dd bs=4096 count=1 2>/dev/null); done; printf drained; read x <%s/go; dd bs=1 count=1 2>/dev/null | od -c; printf counted; read x <%s/go`,
		dir, strings.Repeat(queries, 3), dir, dir)
	term := run(t, h, carol, "x", script)
	awaitOutput(t, h, term, "drained")
	for i := range 1000 {
		c, err := h.Connect(carol, host.DoorSSH)
		if err != nil {
			t.Fatal(err)
		}
		o := host.AttachOptions{Cols: 80, Rows: 24, ReadOnly: i%3 == 0}
		if i%2 == 0 {
			o.Cols, o.Rows = 0, 0
		}
		a, first, err := c.Attach(term, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"\x1b[c", "\x1b[>c", "\x1b[6n", "\x1b[5n", "\x1b[>q", "$q",
			";?", "\x05", "\x1bZ", "\x1b[21t"} {
			if strings.Contains(string(first), q) {
				t.Fatalf("the redraw asks the viewer: %q", q)
			}
		}
		a.Close()
		c.Close()
	}
	writeFile(t, filepath.Join(dir, "go"), "\n")
	if err := attach(t, h, carol, "x", window).a.Input([]byte("K")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "counted")
	st := state(t, h, term)
	if got := text(st); !strings.Contains(got, "K") {
		t.Errorf("before the first key came something else: %q", got[strings.Index(got, "drained"):])
	}
}

func TestOnlyARealKeyOfAnAdminSeizes(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "stty raw -echo; printf ready; exec cat -v")
	awaitOutput(t, h, term, "ready")
	admin := attach(t, h, alice, "x", host.AttachOptions{Cols: 90, Rows: 30})
	operator := attach(t, h, bot, "x", window)
	looker := attach(t, h, eve, "x", window)
	reader := attach(t, h, alice, "x", host.AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})
	for _, r := range []string{ // each kind that keyboard.HasKeys knows
		"\x1b[I", "\x1b[M !!", "\x1b[<0;1;1M", "\x1b[?62;22;52c", "\x1b[1;1R",
		"\x1b]11;rgb:0000/0000/0000\x07", "\x1bP>|xterm(370)\x1b\\", "\x1b_Gi=1;OK\x1b\\",
		"\x1b[97;1:3u", "\x1b[57442;5u",
	} {
		for i := 0; i <= len(r); i++ { // also in two pieces
			for _, v := range []*viewer{admin, operator, looker, reader} {
				for _, piece := range []string{r[:i], r[i:]} {
					if err := v.a.Input([]byte(piece)); err != nil {
						t.Fatalf("%q: %v", piece, err)
					}
				}
			}
		}
	}
	if name, _ := admin.a.Holder(); name != "carol" {
		t.Fatalf("a report took the keyboard for %s", name)
	}
	var denied *authz.Denied
	others := map[string]*viewer{"operator": operator, "observer": looker, "read-only": reader}
	for who, v := range others {
		if err := v.a.Input([]byte("x")); !errors.As(err, &denied) || denied.Rule == "" {
			t.Errorf("%s types: %v", who, err)
		}
		if err := v.a.Claim(); !errors.As(err, &denied) {
			t.Errorf("%s claims: %v", who, err)
		}
		if err := v.a.SendSignal(syscall.SIGINT); !errors.As(err, &denied) {
			t.Errorf("%s signals: %v", who, err)
		}
	}
	if info := term.Info(carol); info.Cols != 80 {
		t.Error("a viewer that holds nothing resizes")
	}
	admin.typesIntoAnotherSize("\x1b[IK")
	awaitOutput(t, h, term, "K")
	name, claim := admin.a.Holder()
	if name != "alice" || claim != ahp.ClientClaim(host.SSHClientID(alice)) {
		t.Errorf("held by %s, %+v", name, claim)
	}
	if info := term.Info(alice); info.Cols != 90 || info.Rows != 30 {
		t.Error("it does not fit the new holder's window")
	}
	if err := attach(t, h, carol, "x", window).a.Input([]byte("x")); !errors.As(err, &denied) {
		t.Errorf("the former holder types: %v", err)
	}
	if st := state(admin.t, h, term); text(st) != "ready^[[IK" {
		t.Errorf("the program got %q", text(st))
	}
}

func TestHandBack(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/cat")
	v := attach(t, h, alice, "x", window)
	var denied *authz.Denied
	if _, err := v.handBack(); !errors.As(err, &denied) {
		t.Errorf("without holding it: %v", err)
	}
	if err := v.a.Claim(); err != nil {
		t.Fatal(err)
	}
	if err := v.a.Claim(); err != nil { // a second time changes nothing
		t.Fatal(err)
	}
	if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got == "" {
		t.Error("the agent types while the person holds it")
	}
	if name, err := v.handBack(); err != nil || name != "alice/bot" {
		t.Errorf("handed back to %q, %v", name, err)
	}
	if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte("x")}); got != "" {
		t.Errorf("the agent after it got it back: %q", got)
	}
	if err := v.a.Claim(); err != nil {
		t.Fatal(err)
	}
	agent.c.Close()
	clock.advance(time.Hour)
	connect(t, h, carol, "agent") // the clientId is another's by now
	if name, err := v.handBack(); err == nil {
		t.Errorf("handed back to %q, who has left", name)
	}
	mine := run(t, h, alice, "mine", "exec cat")
	if name, err := attach(t, h, alice, mine.Name(), window).handBack(); err == nil {
		t.Errorf("handed back to %q, who never held it", name)
	}
}

func TestTheClipboardReachesTheHoldersViewersOnly(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x",
		`stty -icanon -echo; read x; printf 'a\033]52;c;b25l\007b\033]52;c;dHdv\007c\033]52;c;?\007'; read x`)
	ws := connect(t, h, carol, "c")
	ws.subscribe(term.URI())
	holder, second := attach(t, h, carol, "x", window), attach(t, h, carol, "x", host.AttachOptions{})
	others := []*viewer{attach(t, h, alice, "x", window), attach(t, h, eve, "x", window),
		attach(t, h, carol, "x", host.AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})}
	if err := holder.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "abc")
	for _, v := range []*viewer{holder, second} {
		v.shows("c")
		if len(v.clipboards) == 0 || v.clipboards[len(v.clipboards)-1] != "\x1b]52;c;dHdv\x07" ||
			strings.Contains(string(v.out), "\x1b]52") {
			t.Errorf("the holder's viewer got %q and %q", v.clipboards, v.out)
		}
	}
	for _, v := range others {
		v.shows("c")
		if len(v.clipboards) > 0 || strings.Contains(string(v.out), "]52") {
			t.Errorf("another viewer got %q", v.clipboards)
		}
	}
	ws.until("the output", func(e *store.Entry) bool {
		d, ok := e.Action().(ahp.TerminalData)
		return ok && strings.HasSuffix(string(d.Data), "c")
	})
	for _, e := range ws.seen {
		if strings.Contains(fmt.Sprintf("%q", e.Action()), "]52") {
			t.Error("an AHP peer got the clipboard")
		}
	}
	if st := state(holder.t, h, term); text(st) != "\r\nabc" && text(st) != "abc" {
		t.Errorf("the content is %q", text(st))
	}
	// A viewer that comes later gets none of it.
	v := attach(t, h, carol, "x", host.AttachOptions{})
	if strings.Contains(string(v.out), "52;") || v.pull() {
		t.Error("the clipboard is replayed")
	}
}

func TestANotificationASecondReachesTheHoldersViewersOnly(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	term := run(t, h, carol, "x", `stty -icanon -echo; read x; printf '\033]9;one\007'; `+
		`printf '\033]777;notify;x;two\007first'; read x; `+
		`printf '\033]777;notify;x;three\007last'; read x`)
	ws := connect(t, h, carol, "c")
	ws.subscribe(term.URI())
	holder := attach(t, h, carol, "x", window)
	others := []*viewer{attach(t, h, alice, "x", window), attach(t, h, eve, "x", window),
		attach(t, h, carol, "x", host.AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})}
	if err := holder.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	holder.shows("first")
	clock.advance(notifyEvery)
	if err := holder.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	holder.shows("last")
	want := []string{"\x1b]9;one\x07", "\x1b]777;notify;x;three\x07"}
	if !slices.Equal(holder.notifications, want) {
		t.Errorf("the holder's viewer got %q, want %q", holder.notifications, want)
	}
	for _, v := range others {
		v.shows("last")
		if len(v.notifications) > 0 || strings.Contains(string(v.out), "\x1b]9") ||
			strings.Contains(string(v.out), "]777") {
			t.Errorf("another viewer got %q and %q", v.notifications, v.out)
		}
	}
	ws.until("the output", func(e *store.Entry) bool {
		d, ok := e.Action().(ahp.TerminalData)
		return ok && strings.HasSuffix(string(d.Data), "last")
	})
	for _, e := range ws.seen {
		if strings.Contains(fmt.Sprintf("%q", e.Action()), "]777") {
			t.Error("an AHP peer got the notification")
		}
	}
}

func TestWaitRoom(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	dir := t.TempDir()
	term := run(t, h, carol, "x",
		"stty raw -echo; mkfifo "+dir+"/go; printf ready; read x <"+dir+"/go; exec cat >/dev/null")
	awaitOutput(t, h, term, "ready")
	v := attach(t, h, carol, "x", window)
	piece := []byte(strings.Repeat("x", 64<<10))
	var err error
	for err == nil {
		err = v.a.Input(piece)
	}
	if err != host.ErrBusy {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	if err := v.a.WaitRoom(ctx); err != gone {
		t.Errorf("with a context that ended: %v", err)
	}
	writeFile(t, filepath.Join(dir, "go"), "\n")
	if err := v.a.WaitRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := v.a.Input(piece); err != nil {
		t.Errorf("after there is room: %v", err)
	}
	if err := hosttest.Dispose(h, carol, term); err != nil {
		t.Fatal(err)
	}
	if err := v.a.Input(piece); err != host.ErrExited {
		t.Errorf("after the exit: %v", err)
	}
	if err := v.a.WaitRoom(t.Context()); err != nil && err != host.ErrExited {
		t.Errorf("after the exit: %v", err)
	}
	if _, _, err := v.c.Attach(term, window); err == nil {
		t.Error("a disposed terminal can be attached to")
	}
}

package host

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/vt"
)

var window = AttachOptions{Cols: 80, Rows: 24}

func TestAnAttachShowsTheScreenAndWhatFollows(t *testing.T) {
	h := newHost(t)
	term := run(t, h, carol, "x", "stty -echo; printf before; read x; printf after; read x")
	term.awaitOutput(t, "before")
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
	attach(t, h, bot, "x", AttachOptions{Cols: 30, Rows: 10}).a.Resize(20, 10)
	if info := term.Info(carol); info.Cols != 100 {
		t.Error("a viewer that does not hold the claim resizes")
	}
	attach(t, h, carol, "x", AttachOptions{Cols: 5000, Rows: 5000})
	if info := term.Info(carol); info.Cols != MaxCols || info.Rows != MaxRows {
		t.Errorf("a huge window makes it %dx%d", info.Cols, info.Rows)
	}
	if got := string(v.a.Restore()); !strings.Contains(got, "\x1b[?1049l") {
		t.Errorf("restore %q", got)
	}
}

func TestRedrawAndLiveStreamMeetWithoutGapOrDouble(t *testing.T) {
	h := newHost(t)
	const lines = 20000
	for _, o := range []AttachOptions{{}, window} {
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
					return strings.Contains(string(screen.AppendText(nil, false)), fmt.Sprintf("line-%d-end", lines-1))
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
	h := newHost(t)
	queries := `\033[c\033[>c\033[=c\033[5n\033[6n\033[?6n\033[>q\033P$qm\033\\\033]4;1;?\007\033]10;?\007\033]11;?\007\033]12;?\007\033]52;c;?\007\033[21t\033[18t\033[?u\033Z\005`
	dir := t.TempDir()
	// Everything that reaches the program's input is counted; the answers that the
	// host itself gives come first, to the last query's.
	script := fmt.Sprintf(`stty raw -echo; mkfifo %s/go; printf '%s\033[?25$p'; until case $got in *'[?25;1$y') ;; *) false; esac; do got=$got$(dd bs=4096 count=1 2>/dev/null); done; printf drained; read x <%s/go; dd bs=1 count=1 2>/dev/null | od -c; printf counted; read x <%s/go`,
		dir, strings.Repeat(queries, 3), dir, dir)
	term := run(t, h, carol, "x", script)
	term.awaitOutput(t, "drained")
	for i := range 1000 {
		c, err := h.Connect(carol, DoorSSH)
		if err != nil {
			t.Fatal(err)
		}
		o := AttachOptions{Cols: 80, Rows: 24, ReadOnly: i%3 == 0}
		if i%2 == 0 {
			o.Cols, o.Rows = 0, 0
		}
		a, first, err := c.Attach(term, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"\x1b[c", "\x1b[>c", "\x1b[6n", "\x1b[5n", "\x1b[>q", "$q", ";?", "\x05", "\x1bZ", "\x1b[21t"} {
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
	term.awaitOutput(t, "counted")
	st, _ := term.ch.Terminal()
	if got := text(st); !strings.Contains(got, "K") {
		t.Errorf("before the first key came something else: %q", got[strings.Index(got, "drained"):])
	}
}

func TestOnlyARealKeyOfAnAdminSeizes(t *testing.T) {
	h := newHost(t)
	term := run(t, h, carol, "x", "stty raw -echo; printf ready; exec cat -v")
	term.awaitOutput(t, "ready")
	admin, operator := attach(t, h, alice, "x", AttachOptions{Cols: 90, Rows: 30}), attach(t, h, bot, "x", window)
	looker, reader := attach(t, h, eve, "x", window), attach(t, h, alice, "x", AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})
	for _, r := range reports {
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
	for who, v := range map[string]*viewer{"operator": operator, "observer": looker, "read-only": reader} {
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
	if err := admin.a.Input([]byte("\x1b[IK")); err != nil {
		t.Fatal(err)
	}
	term.awaitOutput(t, "K")
	name, claim := admin.a.Holder()
	if name != "alice" || claim != ahp.ClientClaim(SSHClientID(alice)) {
		t.Errorf("held by %s, %+v", name, claim)
	}
	if info := term.Info(alice); info.Cols != 90 || info.Rows != 30 {
		t.Error("it does not fit the new holder's window")
	}
	if err := attach(t, h, carol, "x", window).a.Input([]byte("x")); !errors.As(err, &denied) {
		t.Errorf("the former holder types: %v", err)
	}
	if st, _ := term.ch.Terminal(); text(st) != "ready^[[IK" {
		t.Errorf("the program got %q", text(st))
	}
}

func TestHandBack(t *testing.T) {
	clock := newClock()
	h := newHost(t, withClock(clock))
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/cat")
	v := attach(t, h, alice, "x", window)
	var denied *authz.Denied
	if _, err := v.a.HandBack(); !errors.As(err, &denied) {
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
	if name, err := v.a.HandBack(); err != nil || name != "alice/bot" {
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
	if name, err := v.a.HandBack(); err == nil {
		t.Errorf("handed back to %q, who has left", name)
	}
	mine := run(t, h, alice, "mine", "exec cat")
	if name, err := attach(t, h, alice, mine.Name(), window).a.HandBack(); err == nil {
		t.Errorf("handed back to %q, who never held it", name)
	}
}

func TestTheClipboardReachesTheHoldersViewersOnly(t *testing.T) {
	h := newHost(t)
	term := run(t, h, carol, "x", `stty -echo; read x; printf 'a\033]52;c;b25l\007b\033]52;c;dHdv\007c\033]52;c;?\007'; read x`)
	ws := connect(t, h, carol, "c")
	ws.subscribe(term.URI())
	holder, second := attach(t, h, carol, "x", window), attach(t, h, carol, "x", AttachOptions{})
	others := []*viewer{attach(t, h, alice, "x", window), attach(t, h, eve, "x", window),
		attach(t, h, carol, "x", AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})}
	if err := holder.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	term.awaitOutput(t, "abc")
	for _, v := range []*viewer{holder, second} {
		v.shows("c")
		if len(v.clipboards) == 0 || v.clipboards[len(v.clipboards)-1] != "\x1b]52;c;dHdv\x07" || strings.Contains(string(v.out), "\x1b]52") {
			t.Errorf("the holder's viewer got %q and %q", v.clipboards, v.out)
		}
	}
	for _, v := range others {
		v.shows("c")
		if len(v.clipboards) > 0 || strings.Contains(string(v.out), "]52") {
			t.Errorf("another viewer got %q", v.clipboards)
		}
	}
	ws.until("the output", func(e *storeEntry) bool {
		d, ok := e.Action().(ahp.TerminalData)
		return ok && strings.HasSuffix(string(d.Data), "c")
	})
	for _, e := range ws.seen {
		if strings.Contains(fmt.Sprintf("%q", e.Action()), "]52") {
			t.Error("an AHP peer got the clipboard")
		}
	}
	if st, _ := term.ch.Terminal(); text(st) != "\r\nabc" && text(st) != "abc" {
		t.Errorf("the content is %q", text(st))
	}
	// Who comes later finds nothing of it.
	if v := attach(t, h, carol, "x", AttachOptions{}); strings.Contains(string(v.out), "52;") || v.pull() {
		t.Error("the clipboard is replayed")
	}
}

// numbers writes n letters that do not repeat soon.
func numbers(w io.Writer, n int) {
	var b [8]byte
	for i := range n / 8 {
		binary.BigEndian.PutUint64(b[:], uint64(i)*0x9e3779b97f4a7c15)
		for j := range b {
			b[j] = 'a' + b[j]%16
		}
		w.Write(b[:])
	}
}

func TestALosslessReaderLosesNothingHoweverSlowAndHoldsUpNobodyElse(t *testing.T) {
	size := 50 << 20
	if testing.Short() {
		size = 5 << 20
	}
	file := filepath.Join(t.TempDir(), "data")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	numbers(w, size)
	w.Flush()
	f.Close()
	want := sum.Sum(nil)

	h := newHost(t, func(c *Config) { c.LogBytes = 256 << 10 })
	other := run(t, h, carol, "other", "exec cat")
	c, err := h.Connect(carol, DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a, first, err := c.CreateAttached(CreateOptions{Name: "x", Argv: []string{"/bin/sh", "-c", "stty -opost; cat " + file + "; exit 5"}}, AttachOptions{Lossless: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got := sha256.New()
	got.Write(first)
	n := len(first)
	// It begins by not reading at all, until its terminal stands still.
	for a.sub.Lag(a.t.ch) <= a.t.ch.LogBytes()/2 {
		<-a.Signal()
	}
	if err := attach(t, h, carol, "other", AttachOptions{}).a.Input([]byte("others go on\n")); err != nil {
		t.Fatal(err)
	}
	other.awaitOutput(t, "others go on")
	for exited := false; !exited; {
		items := a.Pull(nil, 64<<10)
		for _, it := range items {
			if it.Lagged != nil {
				t.Fatalf("it fell behind after %d bytes", n)
			}
			switch act := it.Entry.Action().(type) {
			case ahp.TerminalData:
				got.Write(act.Data)
				n += len(act.Data)
			case ahp.TerminalExited:
				exited = true
			}
		}
		if len(items) == 0 {
			<-a.Signal()
		}
	}
	if n != size || string(got.Sum(nil)) != string(want) {
		t.Errorf("%d of %d bytes came, or not the same", n, size)
	}
	if st, _ := a.t.Exit(); st.Code != 5 {
		t.Errorf("exit %v", st)
	}
}

func TestALosslessReaderLosesNothingOfManySmallPieces(t *testing.T) {
	h := newHost(t, func(c *Config) { c.LogBytes = 256 << 10 })
	c, err := h.Connect(carol, DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// A query stands between the bytes, so that each would be an entry of its own.
	const bytes = 60000
	file := filepath.Join(t.TempDir(), "data")
	writeFile(t, file, strings.Repeat("x\x1b[6n", bytes))
	script := "stty raw -echo; exec cat " + file
	a, first, err := c.CreateAttached(CreateOptions{Argv: []string{"/bin/sh", "-c", script}}, AttachOptions{Lossless: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for a.sub.Lag(a.t.ch) <= a.t.ch.LogBytes()/2 {
		select {
		case <-a.Signal():
			continue
		case <-a.t.Done():
		}
		break
	}
	n := strings.Count(string(first), "x")
	for exited := false; !exited; {
		items := a.Pull(nil, 4<<10)
		for _, it := range items {
			if it.Lagged != nil {
				t.Fatal("it fell behind")
			}
			switch act := it.Entry.Action().(type) {
			case ahp.TerminalData:
				n += strings.Count(string(act.Data), "x")
			case ahp.TerminalExited:
				exited = true
			}
		}
		if len(items) == 0 {
			<-a.Signal()
		}
	}
	if n != bytes {
		t.Errorf("%d of %d came", n, bytes)
	}
}

func TestAStalledReaderIsResynchronisedAndNineOthersGetEverything(t *testing.T) {
	h := newHost(t, func(c *Config) { c.LogBytes = 1 << 20; c.ScrollbackBytes = 64 << 10 })
	term := run(t, h, carol, "x", "stty -echo -opost; printf ready; read x; yes 0123456789abcdef | head -c 8000000; printf THE-END; read x")
	term.awaitOutput(t, "ready")
	stalled := attach(t, h, eve, "x", window)
	var healthy []*viewer
	for range 9 {
		healthy = append(healthy, attach(t, h, eve, "x", AttachOptions{}))
	}
	owner := attach(t, h, carol, "x", window)
	if err := owner.a.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, v := range healthy {
		wg.Go(func() { v.shows("THE-END") })
	}
	wg.Wait()
	for i, v := range healthy {
		if v.lagged == 0 && len(v.out) != len("ready")+8000000+len("THE-END") {
			t.Errorf("reader %d got %d bytes", i, len(v.out))
		}
	}
	term.awaitOutput(t, "THE-END")
	stalled.shows("THE-END")
	if stalled.lagged != 1 {
		t.Errorf("it was told %d times that it fell behind", stalled.lagged)
	}
	want, err := h.Peek(eve, term, true)
	if err != nil {
		t.Fatal(err)
	}
	screen := vt.New(80, 24, vt.Options{})
	screen.Feed(stalled.out, nil)
	if got := string(screen.AppendText(nil, true)); got != string(want) {
		t.Errorf("after the redraw it shows\n%s\nnot\n%s", got, want)
	}
}

func TestWaitRoom(t *testing.T) {
	h := newHost(t)
	dir := t.TempDir()
	term := run(t, h, carol, "x", "stty raw -echo; mkfifo "+dir+"/go; printf ready; read x <"+dir+"/go; exec cat >/dev/null")
	term.awaitOutput(t, "ready")
	v := attach(t, h, carol, "x", window)
	piece := []byte(strings.Repeat("x", 64<<10))
	var err error
	for err == nil {
		err = v.a.Input(piece)
	}
	if err != ErrBusy {
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
	if err := h.Dispose(carol, term); err != nil {
		t.Fatal(err)
	}
	if err := v.a.Input(piece); err != ErrExited {
		t.Errorf("after the exit: %v", err)
	}
	if err := v.a.WaitRoom(t.Context()); err != nil && err != ErrExited {
		t.Errorf("after the exit: %v", err)
	}
	if _, _, err := v.c.Attach(term, window); err == nil {
		t.Error("a disposed terminal can be attached to")
	}
}

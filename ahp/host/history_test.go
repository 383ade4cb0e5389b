package host_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// codeText returns an exit code; "?": nobody knows it.
func codeText(code *int) string {
	if code == nil {
		return "?"
	}
	return strconv.Itoa(*code)
}

// items returns what a terminal's log holds, as text: one item a line, output joined.
func items(t testing.TB, h *host.Host, term *host.Terminal) (text string, truncated bool) {
	t.Helper()
	var b strings.Builder
	var last history.Item
	truncated, err := hosttest.Conn(t, h, carol).History(workOf(t, h, carol), host.Source{Terminal: term}).Read(workOf(t, h, carol), func(i *history.Item) bool {
		if i.At < last.At {
			t.Errorf("%+v follows %+v", i, last)
		}
		if i.Time.Before(term.Info(alice).CreatedAt) || i.Time.After(time.Now()) {
			t.Errorf("%s at %v", i.Kind, i.Time)
		}
		switch i.Kind {
		case history.Data:
			if last.Kind != history.Data {
				b.WriteByte(0x7c)
			}
			b.Write(i.Data)
		case history.Resized:
			fmt.Fprintf(&b, "|%dx%d", i.Cols, i.Rows)
		case history.Began:
			fmt.Fprintf(&b, "|[%s by %s", i.Command.Line, i.Command.By)
		case history.Finished:
			fmt.Fprintf(&b, "|] %s", codeText(i.Command.ExitCode))
		case history.Exited:
			fmt.Fprintf(&b, "|exited %s", codeText(i.ExitCode))
		case history.Gap:
			fmt.Fprintf(&b, "|%d missing: %s", i.Missing, i.Reason)
		}
		last = *i
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), truncated
}

func TestHistoryHasOutputWithCommandsAndSizesInTheirPlaces(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Cols: 100, Rows: 30,
		Argv: sh("stty -icanon -echo; printf '" + strings.ReplaceAll(told, "\x1b", `\033`) +
			"'; read x; printf more; exit 4")})
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "the title")
	v := attach(t, h, carol, "x", window) // 80 by 24
	v.a.Resize(90, 20)
	if err := v.a.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	wait(t, "the exit", term.Done())
	const want = "|100x30|$ |[ by carol|making\r\r\n|] 3|$ \x1b]0;the title\a|80x24|90x20|more|exited 4"
	for _, h := range []*host.Host{h, after(t, killed(t, h))} {
		if got, truncated := items(t, h, find(t, h, "x")); got != want || truncated {
			t.Errorf("the history is %q, want %q", got, want)
		}
	}
}

func TestHistoryWithoutItsBeginningDrawsTheScreenFirst(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 128 << 10 })
	term := run(t, h, carol, "x", "seq 100000")
	wait(t, "the exit", term.Done())
	got, truncated := items(t, h, term)
	_, retained, _ := strings.Cut(got, "\n")
	first, _, _ := strings.Cut(retained, "\r")
	if !truncated || !strings.Contains(got, "|100000\r\n|exited 0") &&
		!strings.HasSuffix(got, "\n100000\r\n|exited 0") {
		t.Errorf("truncated: %v; %.200q ... %.50q", truncated, got, got[len(got)-50:])
	}
	if first == "2" {
		t.Errorf("the history begins with %.100q", got)
	}
}

func TestHistoryOfWhatIsNotLoggedIsWhatIsRetained(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.Persist = false })
	term := run(t, h, carol, "x", "echo hello; exit 2")
	wait(t, "the exit", term.Done())
	if got, _ := items(t, h, term); got != "|80x24|hello\r\n|exited 2" {
		t.Errorf("the history is %q", got)
	}
}

func TestHistoryForgetsWhatWasCleared(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", "stty -icanon -echo; echo secret; read x; echo shown; read x")
	term := lookup(h, uri)
	awaitOutput(t, h, term, "secret")
	p.subscribe(uri)
	if got := p.dispatch(uri, ahp.TerminalCleared{}); got != "" {
		t.Fatal(got)
	}
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\n")})
	awaitOutput(t, h, term, "shown")
	if got, _ := items(t, h, term); strings.Contains(got, "secret") ||
		!strings.HasSuffix(got, "shown\r\n") {
		t.Errorf("the history is %q", got)
	}
}

func TestHistoryIsForThoseWhoMayReadTheTerminal(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "echo hello")
	guest := authz.Principal{ID: "g", Name: "g", Role: authz.Observer, Guest: "g"}
	_, err := hosttest.Conn(t, h, guest).History(workOf(t, h, guest), host.Source{Terminal: term}).Read(workOf(t, h, guest), func(*history.Item) bool { t.Error("it reads"); return true })
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		t.Errorf("got %v", err)
	}
}

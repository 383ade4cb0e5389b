package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"termhost/ahp/hosttest"
)

// TestAHostKilledWhileItResizesHasTheSizeOfThePty kills hosts at random moments while a window
// that is attached is dragged.
func TestAHostKilledWhileItResizesHasTheSizeOfThePty(t *testing.T) {
	t.Parallel()
	kills := 2
	if isSlow(t) {
		kills = 20
	}
	start, _, do := keptHost(t, "")
	h := start()
	do("new", "-d", "-n", "sized", "--", "sh", "-c",
		"stty -echo; echo ready; while read i; do echo $i: $(stty size).; done")
	do("wait", "--match", "ready", "sized")
	size := func() (cols, rows int) {
		t.Helper()
		var listed []struct{ Cols, Rows int }
		if err := json.Unmarshal([]byte(do("ls", "--json")), &listed); err != nil || len(listed) != 1 {
			t.Fatal(listed, err)
		}
		return listed[0].Cols, listed[0].Rows
	}
	// The columns of the window before it is dragged and meanwhile; a new terminal has 80.
	const before, least, most = 200, 100, 180
	for k := range kills {
		viewer := verbOf(h, "attach", "sized")
		tty, err := pty.StartWithSize(viewer, &pty.Winsize{Cols: before, Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, tty) // it ends with EIO when the viewer has gone
			_ = viewer.Wait()
		}()
		var cols int
		hosttest.Eventually(t, "it is attached", func() bool { cols, _ = size(); return cols == before })
		dragged := make(chan struct{})
		go func() {
			defer close(dragged)
			drag(tty, least, most, h.Ended, ended)
		}()
		hosttest.Eventually(t, "it is dragged", func() bool { cols, _ = size(); return cols < before })
		time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond) // the moment is the point
		if err := h.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-h.Ended
		<-dragged
		tty.Close()
		<-ended
		h = start()
		do("send", "--enter", "sized", fmt.Sprint("round", k))
		do("wait", "--match", fmt.Sprintf(`round%d: .*\.`, k), "sized")
		cols, rows := size()
		if cols < least || cols > most {
			t.Errorf("it has %d columns, which it did not have while it was dragged", cols)
		}
		said := do("log", "--raw", "sized")
		if want := fmt.Sprintf("round%d: %d %d.", k, rows, cols); !strings.Contains(said, want) {
			t.Errorf("%q is not what the program says: %q", want, said[strings.LastIndex(said, "round"):])
		}
	}
}

// drag gives a tty one size after another, of least to most columns, until one of two things has
// happened.
func drag(tty *os.File, least, most int, one, other <-chan struct{}) {
	for {
		select {
		case <-one:
			return
		case <-other:
			return
		default:
			size := &pty.Winsize{Cols: uint16(least + rand.IntN(most-least+1)), Rows: uint16(10 + rand.IntN(40))}
			_ = pty.Setsize(tty, size) // it may have just gone
		}
	}
}

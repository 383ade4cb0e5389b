package share

import (
	"fmt"
	"io"
	"time"

	"github.com/charmbracelet/x/ansi"

	"termhost/ptypool/vt"
)

// noteTime is how long a note stays on the last line of a full-screen program.
const noteTime = 4 * time.Second

// notify shows the user a line, and returns whether it stays on the screen.
func (f *feed) notify(text string) (stays bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stays = !f.screen.AltScreen()
	f.between(func() { f.noteLocked(text) })
	return stays
}

// noteLocked shows the user a line. Where the user's own screen begins we do not
// know, so it is a line like any other there; over a full-screen program it lies
// on the last one for a while.
func (f *feed) noteLocked(text string) {
	if !f.screen.AltScreen() {
		_, _ = fmt.Fprintf(f.out, "\r\n\x1b[7m[termhost: %s]\x1b[0m\r\n", text)
		return
	}
	cols, _ := f.screen.Size()
	f.lastLine("\x1b[7m" + ansi.Truncate(" termhost: "+text+" ", cols, "") + "\x1b[0m")
	if f.note != nil {
		f.note.Stop()
	}
	f.note = time.AfterFunc(noteTime, f.unnote)
}

// lastLine draws over the last line of a full-screen program. What is too long
// for it would make it scroll.
func (f *feed) lastLine(text string) {
	_, rows := f.screen.Size()
	_, _ = fmt.Fprintf(f.out, "\x1b7\x1b[%d;1H\x1b[0m\x1b[2K%s\x1b[0m\x1b8", rows, text)
}

// unnote gives a full-screen program its last line back.
func (f *feed) unnote() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.between(func() {
		if f.note == nil || !f.screen.AltScreen() {
			return
		}
		f.note = nil
		rows := f.screenRows()
		f.lastLine(string(rows[len(rows)-1]))
	})
}

// restore leaves the user's terminal as a shell expects it, where the program has
// not.
func (f *feed) restore() {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := vt.SaneMain
	if f.screen.AltScreen() {
		text = vt.Sane
	}
	_, _ = io.WriteString(f.out, text)
}

// reappear shows a full-screen program again after restore. A shell's next prompt
// comes with the next Enter, as after any job that is continued.
func (f *feed) reappear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.screen.AltScreen() {
		return
	}
	// For another size than the screen's only what is seen is drawn, and not the
	// main screen, which is the user's.
	cols, rows := f.screen.Size()
	_, _ = f.out.Write(f.screen.AppendRedraw([]byte("\x1b[?1049h"), vt.Redraw{Cols: cols + 1, Rows: rows, Update: true}))
}

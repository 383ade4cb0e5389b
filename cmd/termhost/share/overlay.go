package share

import (
	"fmt"
	"io"
	"time"

	"termhost/ptypool/vt"
	"termhost/ptypool/vt/width"
)

// overlayTime is how long a notice covers the last line of a full-screen program.
const overlayTime = 4 * time.Second

// notify shows the user a notice, and reports whether it stays on the screen.
func (t *tee) notify(text string) (stays bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stays = !t.screen.AltScreen()
	t.between(func() { t.notifyLocked(text) })
	return stays
}

// notifyLocked shows the user a notice. On the main screen it is printed like any other line,
// since we do not know what the user's terminal shows above the cursor. On the alternate screen it
// covers the last line for a while.
func (t *tee) notifyLocked(text string) {
	if !t.screen.AltScreen() {
		_, _ = fmt.Fprintf(t.out, "\r\n\x1b[7m[termhost: %s]\x1b[0m\r\n", text)
		return
	}
	cols, _ := t.screen.Size()
	t.drawLastLine("\x1b[7m" + width.Cut(" termhost: "+text+" ", cols, "") + "\x1b[0m")
	if t.overlay != nil {
		t.overlay.Stop()
	}
	t.overlay = time.AfterFunc(overlayTime, t.uncover)
}

// drawLastLine draws over the last line of a full-screen program. The text must fit into the line,
// or the screen would scroll.
func (t *tee) drawLastLine(text string) {
	_, rows := t.screen.Size()
	_, _ = fmt.Fprintf(t.out, "\x1b7\x1b[%d;1H\x1b[0m\x1b[2K%s\x1b[0m\x1b8", rows, text)
}

// uncover redraws what a notice has covered.
func (t *tee) uncover() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.between(func() {
		if t.overlay == nil || !t.screen.AltScreen() {
			return
		}
		t.overlay = nil
		rows := t.screenRows()
		t.drawLastLine(string(rows[len(rows)-1]))
	})
}

// restore puts the user's terminal into the state that a shell expects, as far as the program has
// not.
func (t *tee) restore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := vt.SaneMain
	if t.screen.AltScreen() {
		text = vt.Sane
	}
	_, _ = io.WriteString(t.out, text)
}

// reappear draws a full-screen program again after restore. A shell prompts again on the next
// Enter, as it does after any job that is continued.
func (t *tee) reappear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.screen.AltScreen() {
		return
	}
	// A redraw for the screen's own size would contain the main screen too, which is not ours to
	// draw. A redraw for another size contains only what is seen.
	cols, rows := t.screen.Size()
	redraw := vt.Redraw{Cols: cols + 1, Rows: rows, Update: true}
	_, _ = t.out.Write(t.screen.AppendRedraw([]byte("\x1b[?1049h"), redraw))
}

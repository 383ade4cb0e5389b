package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// heldBack is how long the parser may keep an unfinished rune or sequence: as
// the host's own.
const heldBack = 50 * time.Millisecond

// feed shows what the local program prints to its user, exactly as it is, and to
// the journal as the host would have it: with command boundaries as actions. It
// keeps the screen that watchers have been shown, so that those who missed
// something can be shown how things stand; what was printed while sharing was
// paused is not on it.
type feed struct {
	out     io.Writer // the user's terminal
	journal *journal
	answer  func(p []byte) // where nobody else answers the program's queries; nil: the user's terminal does

	mu      sync.Mutex   // taken before the journal's
	screen  *vt.Terminal // what the user sees
	shown   *vt.Terminal // what watchers see
	flusher *time.Timer
	paused  bool
	counter int    // of commands
	running string // the command's id; "": none that watchers know of
	begun   time.Time
	note    *time.Timer // takes the note off the user's last line; nil: there is none
}

func newFeed(out io.Writer, j *journal, cols, rows int, nonce string) *feed {
	return &feed{out: out, journal: j, screen: vt.New(cols, rows, vt.Options{Nonce: nonce, Version: version()}),
		shown: vt.New(cols, rows, vt.Options{})}
}

// Write takes what the program printed.
func (f *feed) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.out.Write(p)
	f.screen.Feed(p, sharedSink{f})
	if f.screen.Pending() {
		if f.flusher == nil {
			f.flusher = time.AfterFunc(heldBack, f.flush)
		} else {
			f.flusher.Reset(heldBack)
		}
	}
	return len(p), err
}

// flush releases what the parser holds back.
func (f *feed) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen.Flush(sharedSink{f})
}

// resized says that the terminal has another size.
func (f *feed) resized(cols, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen.Resize(cols, rows)
	if !f.paused {
		f.resizeLocked()
	}
}

// resizeLocked tells watchers the size.
func (f *feed) resizeLocked() {
	cols, rows := f.screen.Size()
	if c, r := f.shown.Size(); c != cols || r != rows {
		f.shown.Resize(cols, rows)
		f.journal.add(ahp.TerminalResized{Cols: cols, Rows: rows})
	}
}

// output shows watchers p, which is cut between sequences.
func (f *feed) output(p []byte) {
	f.shown.Feed(p, nil)
	f.journal.output(p)
}

// size returns the terminal's size.
func (f *feed) size() (cols, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.screen.Size()
}

// draw appends the screen, for watchers who do not have it.
func (f *feed) draw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.journal.output(f.shown.AppendRedraw(nil, vt.Redraw{}))
	f.journal.drawn()
}

// exited ends what is shared.
func (f *feed) exited(code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flusher != nil {
		f.flusher.Stop()
	}
	f.screen.Flush(sharedSink{f})
	f.journal.add(ahp.TerminalExited{ExitCode: &code})
}

// What watchers see of a pause.
const (
	pausedMark  = "\x1b[0m\r\n[termhost: paused by its owner]\r\n"
	resumedMark = "\x1b[0m\r\n[termhost: goes on]\r\n"
)

// toggle pauses sharing, or goes on with it. While it is paused nothing is sent.
func (f *feed) toggle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen.Flush(sharedSink{f})
	if !f.paused {
		f.output([]byte(pausedMark))
		f.paused = true
		f.running = ""
		f.noteLocked("sharing is paused: others see nothing; Ctrl-\\ p goes on")
		return
	}
	f.paused = false
	f.resizeLocked()
	f.output(f.catchUp())
	f.noteLocked("sharing goes on")
}

// catchUp returns what brings watchers from where the pause began to where things
// are. A full-screen program is shown as it stands now; of what was printed
// otherwise, nothing is.
func (f *feed) catchUp() []byte {
	dst := []byte("\x1b[!p") // margins and charsets may have changed (DECSTR)
	if !f.screen.AltScreen() {
		if f.shown.AltScreen() {
			dst = append(dst, "\x1b[?1049l"...)
		}
		return append(dst, resumedMark...)
	}
	if !f.shown.AltScreen() {
		dst = append(dst, resumedMark+"\x1b[?1049h"...)
	}
	dst = append(dst, "\x1b[H\x1b[2J"...)
	for y, row := range f.screenRows() {
		dst = fmt.Appendf(dst, "\x1b[%d;1H\x1b[0m%s", y+1, row)
	}
	x, y, visible := f.screen.Cursor()
	dst = fmt.Appendf(dst, "\x1b[0m\x1b[%d;%dH", y+1, x+1)
	if !visible {
		dst = append(dst, "\x1b[?25l"...)
	}
	return dst
}

// screenRows returns what the user sees, a line for each row, with colours.
func (f *feed) screenRows() [][]byte {
	text := bytes.TrimSuffix(f.screen.AppendText(nil, true), []byte("\n"))
	return bytes.Split(text, []byte("\n"))
}

// noteTime is how long a note stays on the last line of a full-screen program.
const noteTime = 2 * time.Second

// notify shows the user a line.
func (f *feed) notify(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noteLocked(text)
}

// noteLocked shows the user a line. Where the user's own screen begins we do not
// know, so it is a line like any other there; over a full-screen program it lies
// on the last one for a while.
func (f *feed) noteLocked(text string) {
	if !f.screen.AltScreen() {
		_, _ = fmt.Fprintf(f.out, "\r\n\x1b[7m[termhost: %s]\x1b[0m\r\n", text)
		return
	}
	f.lastLine("\x1b[7m termhost: " + text + " \x1b[0m")
	if f.note != nil {
		f.note.Stop()
	}
	f.note = time.AfterFunc(noteTime, f.unnote)
}

// lastLine draws over the last line of a full-screen program.
func (f *feed) lastLine(text string) {
	_, rows := f.screen.Size()
	_, _ = fmt.Fprintf(f.out, "\x1b7\x1b[%d;1H\x1b[0m%s\x1b[0m\x1b[K\x1b8", rows, text)
}

// unnote gives a full-screen program its last line back.
func (f *feed) unnote() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.note == nil || !f.screen.AltScreen() {
		return
	}
	if f.screen.Pending() { // nothing fits into the middle of a sequence
		f.note.Reset(heldBack)
		return
	}
	f.note = nil
	rows := f.screenRows()
	f.lastLine(string(rows[len(rows)-1]))
}

// sane undoes what a program that was ended may have left in the user's terminal
// (xterm ctlseqs, "DEC Private Mode Set"): mouse, focus and paste reports,
// application keys, a hidden cursor.
const sane = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[?1l\x1b>\x1b[?25h\x1b[0m"

// restore leaves the user's terminal as a shell expects it.
func (f *feed) restore() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.screen.AltScreen() {
		_, _ = io.WriteString(f.out, "\x1b[?1049l")
	}
	_, _ = io.WriteString(f.out, sane)
}

// close stops the timers.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flusher != nil {
		f.flusher.Stop()
	}
	if f.note != nil {
		f.note.Stop()
		f.note = nil
	}
}

// sharedSink turns what the parser finds into what is sent. The feed is locked.
type sharedSink struct{ f *feed }

func (s sharedSink) output(p []byte) {
	if !s.f.paused {
		s.f.output(p)
	}
}

// Data is the output without queries and markers.
func (s sharedSink) Data(p []byte) { s.output(p) }

// Reply is for programs whose user has no terminal that would answer.
func (s sharedSink) Reply(p []byte) {
	if s.f.answer != nil {
		s.f.answer(p)
	}
}

// Clipboard is for the user's terminal alone, which has it already.
func (s sharedSink) Clipboard([]byte) {}

// Title needs nothing: the sequence is in Data.
func (s sharedSink) Title(string) {}

// Bell needs nothing either.
func (s sharedSink) Bell() {}

// Cwd passes the directory on, which is in no Data (OSC 7).
func (s sharedSink) Cwd(uri string) { s.output([]byte("\x1b]7;" + uri + "\x07")) }

// CommandDetection comes with the first prompt.
func (s sharedSink) CommandDetection() {}

// PromptStart tells the host that this shell tells of its commands (OSC 133;A).
func (s sharedSink) PromptStart() {
	s.CommandFinished(0, false)
	s.output([]byte("\x1b]133;A\x07"))
}

// CommandExecuted begins a command.
func (s sharedSink) CommandExecuted(line string) {
	f := s.f
	s.CommandFinished(0, false)
	if f.paused {
		return
	}
	f.counter++
	f.running, f.begun = fmt.Sprintf("command-%d", f.counter), time.Now()
	f.journal.add(ahp.TerminalCommandExecuted{CommandID: f.running, CommandLine: line, Timestamp: f.begun.UnixMilli()})
}

// CommandFinished ends the running command, if watchers know of one.
func (s sharedSink) CommandFinished(code int, known bool) {
	f := s.f
	if f.running == "" || f.paused {
		return
	}
	ms := time.Since(f.begun).Milliseconds()
	a := ahp.TerminalCommandFinished{CommandID: f.running, DurationMs: &ms}
	if known {
		a.ExitCode = &code
	}
	f.running = ""
	f.journal.add(a)
}

package host

import (
	"strconv"

	"termhost/ahp"
	"termhost/ptypool"
)

// events receives what a Term finds. All methods but Ready run under the Term's
// lock.
type events struct{ t *Terminal }

// Started is called first, before the Term is known to anybody else.
func (e events) Started(term *ptypool.Term) { e.t.term = term }

// Ready waits until the Term is known to its terminal, and as long as a reader
// that must not lose anything is far behind.
func (e events) Ready() {
	<-e.t.started
	e.t.brake.wait(e.t.ch)
}

func (e events) Data(p []byte) { e.t.content.data(e.t.ch, p) }

// Fed comes when the screen may be looked at.
func (e events) Fed() { e.t.content.fed(e.t.ch, e.t.term.Screen()) }

func (e events) Reply(p []byte) { _ = e.t.term.Input(p) } // a program that does not read its answers gets none

// Clipboard is for the holder's viewers only: see [Attach.Pull].
func (e events) Clipboard(p []byte) { e.t.ch.SetClipboard(p) }

func (e events) Bell() {}

func (e events) Title(s string) {
	t := e.t
	s = CleanTitle(s)
	if t.renamed || s == "" || s == t.lastTitle {
		return
	}
	t.lastTitle = s
	t.ch.Append(ahp.TerminalTitleChanged{Title: s}, nil)
	t.host.list.changed()
}

func (e events) Cwd(uri string) {
	if uri != e.t.lastCwd { // shells tell it with every prompt
		e.t.lastCwd = uri
		e.t.ch.Append(ahp.TerminalCwdChanged{Cwd: uri}, nil)
	}
}

func (e events) CommandDetection() {
	e.t.ch.Append(ahp.TerminalCommandDetectionAvailable{}, nil)
}

func (e events) PromptStart() { e.finish(nil) }

func (e events) CommandExecuted(line string) {
	t := e.t
	e.finish(nil)
	t.commands++
	t.running = t.name + "-" + strconv.Itoa(t.commands)
	t.runningAt = t.host.now()
	t.ch.Append(ahp.TerminalCommandExecuted{CommandID: t.running, CommandLine: line, Timestamp: t.runningAt.UnixMilli()}, nil)
}

func (e events) CommandFinished(code int, known bool) {
	if known {
		e.finish(&code)
		return
	}
	e.finish(nil)
}

// finish ends the running command, if there is one.
func (e events) finish(code *int) {
	t := e.t
	if t.running == "" {
		return
	}
	ms := t.host.now().Sub(t.runningAt).Milliseconds()
	t.ch.Append(ahp.TerminalCommandFinished{CommandID: t.running, ExitCode: code, DurationMs: &ms}, nil)
	t.running = ""
}

func (e events) Exited(st ptypool.ExitStatus) {
	t := e.t
	code := st.Code
	e.finish(&code)
	t.exited = true
	t.fleeting = t.transient && t.watching > 0
	t.ch.Append(ahp.TerminalExited{ExitCode: &code}, nil)
	t.exitedAt = t.host.now()
	t.exit.Store(&st)
	close(t.done)
	t.host.list.changed()
	t.host.keep.exited()
}

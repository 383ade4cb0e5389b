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

// Data collects small pieces, as queries that were removed between them leave
// them: what follows must not find a log full of single bytes.
func (e events) Data(p []byte) {
	t := e.t
	if t.tap != nil {
		t.tap(p)
	}
	if len(p) < smallData && len(t.small)+len(p) <= maxSmall {
		t.small = append(t.small, p...)
		return
	}
	e.settle()
	t.content.data(t.ch, p)
}

const (
	// smallData, in bytes, is what is worth to be copied once more rather than
	// to become an entry that weighs as much again.
	smallData = 256
	// maxSmall, in bytes, is what is collected: every terminal may keep it.
	maxSmall = 1 << 10
)

// settle appends the output that was collected; everything that has its place in
// the output comes after it.
func (e events) settle() {
	if t := e.t; len(t.small) > 0 {
		t.content.data(t.ch, t.small)
		t.small = t.small[:0]
	}
}

// Fed comes when a piece of output has been handled whole.
func (e events) Fed() {
	e.settle()
	e.tell()
	e.t.content.fed(e.t.ch, e.t.term.Screen())
}

func (e events) Reply(p []byte) { _ = e.t.term.Input(p) } // a program that does not read its answers gets none

// Clipboard is for the holder's viewers only: see [Attach.Pull].
func (e events) Clipboard(p []byte) {
	e.settle()
	e.t.ch.SetClipboard(p)
}

// Bell is in the output as well; see [Attach.Covered].
func (e events) Bell() { e.t.bells++ }

// Title and Cwd are told once for each piece of output: only the last one counts.
func (e events) Title(s string) { e.t.newTitle = CleanTitle(s) }

// Cwd is told with every prompt.
func (e events) Cwd(uri string) { e.t.newCwd = uri }

// tell appends what the title and the directory have become.
func (e events) tell() {
	t := e.t
	if s := t.newTitle; s != "" && s != t.lastTitle && !t.renamed {
		t.lastTitle = s
		t.ch.Append(ahp.TerminalTitleChanged{Title: s}, nil)
		t.host.list.changed()
	}
	if uri := t.newCwd; uri != "" && uri != t.lastCwd {
		t.lastCwd = uri
		t.ch.Append(ahp.TerminalCwdChanged{Cwd: uri}, nil)
	}
	t.newTitle, t.newCwd = "", ""
}

func (e events) CommandDetection() {
	e.settle()
	e.t.ch.Append(ahp.TerminalCommandDetectionAvailable{}, nil)
}

func (e events) PromptStart() { e.finish(nil) }

func (e events) CommandExecuted(line string) {
	t := e.t
	e.settle()
	e.finish(nil)
	t.commands++
	t.running = t.name + "-" + strconv.Itoa(t.commands)
	t.runningAt = t.host.now()
	begun := ahp.TerminalCommandExecuted{CommandID: t.running, CommandLine: line, Timestamp: t.runningAt.UnixMilli()}
	t.ch.Append(begun, nil)
	t.content.command(t.ch, begun)
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
	e.settle()
	ms := t.host.now().Sub(t.runningAt).Milliseconds()
	t.ch.Append(ahp.TerminalCommandFinished{CommandID: t.running, ExitCode: code, DurationMs: &ms}, nil)
	t.running = ""
}

func (e events) Exited(st ptypool.ExitStatus) {
	t := e.t
	if t.mark != "" {
		t.host.origins.end(t.mark)
	}
	code := st.Code
	e.settle() // a Feed that panicked has left it
	e.tell()
	if code == ptypool.UnknownExit {
		e.finish(nil)
	}
	e.finish(&code)
	t.exited = true
	t.fleeting = t.transient && t.watching > 0
	t.exitedAt = t.host.now()
	t.exit.Store(&st) // whoever reads the action may ask
	t.ch.Append(t.exitedAction(code))
	close(t.done)
	t.host.list.changed()
	t.host.keep.exited()
}

package host

import (
	"cmp"
	"strconv"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
)

// events is the handler of a terminal's Term: what the Term finds becomes actions here. All methods
// but Ready are called with the Term's lock held.
type events struct{ t *Terminal }

// Started is called first, before anybody else knows the Term.
func (e events) Started(term *ptypool.Term) {
	e.t.term = term
	term.HoldBy(gate(e))
}

// Ready waits until the output may be read.
func (e events) Ready() { <-e.t.started }

// Output comes before what is made of it, which nobody sees before it is logged.
func (e events) Output(p []byte) {
	t := e.t
	t.loadLocked()
	t.outputAt = t.host.now()
	t.warn(t.journal.Output(p, t.outputAt))
	t.tapeOutput(p, t.outputAt)
}

// Data collects small pieces, such as those between queries that were taken out, so that the log
// does not fill up with single bytes.
func (e events) Data(p []byte) {
	t := e.t
	t.countOutput(len(p))
	if t.tap != nil {
		t.tap(p)
	}
	if t.waitlist != nil && t.replay == nil {
		t.waitlist.output(p)
	}
	if len(p) < smallData && len(t.small)+len(p) <= maxSmall {
		t.small = append(t.small, p...)
		return
	}
	e.flushSmall()
	t.content.data(t.channel(), p)
}

const (
	// smallData, in bytes: what is shorter is copied once more, rather than put into an entry of
	// its own, which would take about as many bytes again.
	smallData = 256
	// maxSmall, in bytes, is how much is collected. Every terminal may keep a buffer of this size.
	maxSmall = 1 << 10
)

// flushSmall appends the output that was collected. It is called before anything is appended that
// has its place in the output.
func (e events) flushSmall() {
	if t := e.t; len(t.small) > 0 {
		t.content.data(t.channel(), t.small)
		t.small = t.small[:0]
	}
}

// Fed comes when a piece of output has been handled entirely.
func (e events) Fed() {
	e.flushSmall()
	e.tell()
	e.t.content.fed(e.t.channel(), e.t.term.Screen())
	e.t.keepCheckpoint()
	e.t.keepTape()
	if e.t.replay == nil {
		e.t.stir()
		e.t.stirQuiet()
		e.t.dropForSecret()
		e.t.boundOutput()
		e.t.dropUnasked()
	}
}

// Reply answers a query of the program's. A program that does not read gets no answer, and one that
// has been answered before gets no other.
func (e events) Reply(p []byte) {
	if e.t.replay == nil {
		_ = e.t.exec.input(p, typesNow)
	}
}

// Clipboard comes with what the program puts on the clipboard. Only the holder's viewers get it:
// see [Attach.Pull].
func (e events) Clipboard(p []byte) {
	if e.t.replay != nil {
		return
	}
	e.flushSmall()
	e.t.ch.SetClipboard(p)
}

// notifyEvery is how often a terminal may notify somebody: a program in a loop must not fill the
// viewer's desktop.
const notifyEvery = time.Second

// Notification comes with a notification of the program's. The holder's viewers get it, and of
// several within a second only the first.
func (e events) Notification(p []byte) {
	t := e.t
	now := t.host.now()
	if t.replay != nil || now.Sub(t.notified) < notifyEvery {
		return
	}
	t.notified = now
	e.flushSmall()
	t.ch.Notify(p)
}

// Bell counts. Viewers hear the bell in the output itself, but for those of [Attach.Covered].
// The feed is told of the first within bellEvery.
func (e events) Bell() {
	t := e.t
	t.bells++
	if now := t.host.now(); now.Sub(t.rang) >= bellEvery {
		t.rang = now
		t.emitLive(Event{Kind: EventBell})
		t.happened(WantBell)
	}
}

// bellEvery is how often the feed is told of a terminal's bell: a program in a loop must not fill
// it.
const bellEvery = time.Second

// Title notes a title that the program has set. Of several in one piece of output the last one
// counts.
func (e events) Title(s string) { e.t.newTitle = CleanTitle(s) }

// Cwd notes the working directory, which shells tell with every prompt.
func (e events) Cwd(uri string) { e.t.newCwd = uri }

// tell appends the title and the directory that the piece of output has brought, if they are new.
func (e events) tell() {
	t := e.t
	if s := t.newTitle; s != "" && s != t.lastTitle && !t.renamed {
		t.lastTitle = s
		t.appendParsed(ahp.TerminalTitleChanged{Title: s})
		t.listChanged()
	}
	if uri := t.newCwd; uri != "" && uri != t.lastCwd {
		t.lastCwd = uri
		t.appendParsed(ahp.TerminalCwdChanged{Cwd: uri})
	}
	t.newTitle, t.newCwd = "", ""
}

// CommandDetection comes once, when shell integration is noticed.
func (e events) CommandDetection() {
	e.flushSmall()
	e.t.tellsCommands()
	e.t.appendParsed(ahp.TerminalCommandDetectionAvailable{})
}

// PromptStart comes with a prompt: a command that has not told its end is over.
func (e events) PromptStart() {
	e.finish(nil)
	e.t.endTrust(errTrustEnded)
	e.t.typist.prompts()
}

// CommandExecuted comes when the shell begins to run a command.
func (e events) CommandExecuted(line string) {
	t := e.t
	e.flushSmall()
	e.finish(nil)
	t.commands++
	t.running = t.id + "-" + strconv.Itoa(t.commands)
	t.runningAt = t.when()
	begun := ahp.TerminalCommandExecuted{
		CommandID: t.running, CommandLine: line, Timestamp: t.runningAt.UnixMilli(),
		By: t.begunBy(), Cwd: cmp.Or(t.newCwd, t.lastCwd),
	}
	t.appendParsed(begun)
	t.content.command(t.channel(), begun)
	t.began(begun.By)
}

// CommandFinished comes when a command has ended; known: with code.
func (e events) CommandFinished(code int, known bool) {
	if known {
		e.finish(&code)
		return
	}
	e.finish(nil)
}

// finish ends the command that is running, if there is one. code is nil if it is unknown.
func (e events) finish(code *int) {
	t := e.t
	if t.running == "" {
		return
	}
	e.flushSmall()
	ms := max(t.when().Sub(t.runningAt).Milliseconds(), 0)
	over := ahp.TerminalCommandFinished{CommandID: t.running, ExitCode: code, DurationMs: &ms}
	t.appendParsed(over)
	t.over(over)
}

// shellReplaced comes when another shell, which tells nothing, is at its prompt in the place of the
// one that told of its commands: nobody knows how the command ended by which it came there.
func (e events) shellReplaced() {
	e.finish(nil)
	e.t.replaced.Store(true)
	e.t.guard.tells = false
	e.t.asksChanged()
}

// began notes that the command that is running now was begun by by.
func (t *Terminal) began(by string) {
	t.runningBy = by
	t.listChanged()
	t.emitLive(Event{Kind: EventCommandStarted, By: by})
}

// over notes that the command that was running is over.
func (t *Terminal) over(a ahp.TerminalCommandFinished) {
	t.running = ""
	t.listChanged()
	t.emitLive(Event{Kind: EventCommandFinished, By: t.runningBy, ExitCode: a.ExitCode,
		DurationMs: a.DurationMs})
	t.endTrust(errTrustEnded)
	if t.waitlist != nil && t.replay == nil {
		t.waitlist.finished(a.ExitCode)
	}
	ms := a.DurationMs
	failed := a.ExitCode != nil && *a.ExitCode != 0
	switch {
	case ms == nil:
	case failed && *ms > t.host.cfg().AttentionAfter.Milliseconds():
		t.happened(WantFailed)
	case *ms >= longCommand.Milliseconds():
		t.happened(WantCommand)
	}
}

// Exited comes last, when the program has ended.
func (e events) Exited(st ptypool.ExitStatus) {
	t := e.t
	t.loadLocked()
	e.flushSmall() // it is left if the parser panicked
	e.tell()
	e.finishLast(st.Code)
	t.exited = true
	t.endTrust(errTrustEnded)
	t.dropHeld(nil, ErrExited, anyHeld)
	t.dropPermissions(func(*permission) bool { return true })
	t.typist.reacts()
	t.endLookout()
	t.endQuiet()
	t.fleeting = t.transient && t.watching > 0
	t.exitedAt = t.host.now()
	if st.Code == ptypool.UnknownExit && t.host.cfg().Keeper != nil && !t.Client() {
		why := endedUnseen
		t.ended.CompareAndSwap(nil, &why)
	}
	told, origin := t.exec.exited(st.Code)
	t.keepEnd(st, told)
	t.endTape()
	t.exit.Store(&st) // before the action: its readers may ask for it
	t.ch.Append(told, origin)
	if t.waitlist != nil {
		t.waitlist.exited(st.Code)
	}
	t.emit(Event{Kind: EventExited, ExitCode: &st.Code})
	t.happened(WantExited)
	close(t.done)
	t.host.list.changed()
	t.host.janitor.exited()
}

// finishLast ends the command that is running when the program ends.
func (e events) finishLast(code int) {
	if code == ptypool.UnknownExit {
		e.finish(nil)
	}
	e.finish(&code)
}

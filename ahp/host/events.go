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
func (e events) Ready() { <-e.t.life.started }

// Output comes before what is made of it, which nobody sees before it is logged, or safe with the
// keeper until it is.
func (e events) Output(p []byte) {
	t := e.t
	t.kept.loadLocked()
	t.log.outputAt = t.host.now()
	t.warn(t.log.journal.Output(p, t.log.outputAt))
	t.recorder.Output(p, t.log.outputAt)
}

// Data collects small pieces, such as those between queries that were taken out, so that the log
// does not fill up with single bytes.
func (e events) Data(p []byte) {
	t := e.t
	t.output.countOutput(len(p))
	if t.tap != nil {
		t.tap(p)
	}
	if t.waiting.list != nil && t.kept.replay == nil {
		t.waiting.list.Output(p)
	}
	if len(p) < smallData && len(t.output.small)+len(p) <= maxSmall {
		t.output.small = append(t.output.small, p...)
		return
	}
	t.output.flushSmall()
	t.output.content.data(t.channel(), p)
}

const (
	// smallData, in bytes: what is shorter is copied once more, rather than put into an entry of
	// its own, which would take about as many bytes again.
	smallData = 256
	// maxSmall, in bytes, is how much is collected. Every terminal may keep a buffer of this size.
	maxSmall = 1 << 10
)

// Fed comes when a piece of output has been handled entirely.
func (e events) Fed() {
	e.t.output.flushSmall()
	e.tell()
	e.t.output.content.fed(e.t.channel(), e.t.term.Screen())
	e.t.log.keepCheckpoint()
	e.t.noteProgress()
	if e.t.kept.replay == nil {
		e.t.recorder.Keep()
		e.t.waiting.active()
		e.t.waiting.output()
		e.t.approvals.dropForSecret()
		e.t.output.boundOutput()
		e.t.approvals.dropStaleAnswers()
	}
}

// ControlMode tells the viewers why they see what tmux says to another program.
func (e events) ControlMode() {
	if e.t.kept.replay == nil {
		e.t.viewers.tellOf(Note{Kind: NoteControlMode})
	}
}

// cancelZmodem ends a Zmodem transfer: five CAN, the least that do.
const cancelZmodem = "\x18\x18\x18\x18\x18"

// Zmodem has the program give up at once, rather than after the minute or more in which nobody
// answers it. A peer whose terminal gets the output byte by byte may know Zmodem.
func (e events) Zmodem() {
	if e.t.kept.replay == nil && !e.t.exact() {
		_ = e.t.exec.input([]byte(cancelZmodem), typesNow)
		e.t.viewers.tellOf(Note{Kind: NoteZmodem})
	}
}

// FrameEnded wakes the viewers that are drawn the screen; the others have had the output.
func (e events) FrameEnded() {
	for _, a := range e.t.viewers.open {
		a.sub.Wake()
	}
}

// Reply answers a query of the program's. A program that does not read gets no answer, and one that
// has been answered before gets no other. The peer's own terminal answers a program whose output
// goes there byte by byte.
func (e events) Reply(p []byte) {
	if e.t.kept.replay == nil && !e.t.exact() {
		_ = e.t.exec.input(p, typesNow)
	}
}

// Clipboard comes with what the program puts on the clipboard. Only the holder's viewers get it:
// see [Attach.Pull].
func (e events) Clipboard(p []byte) {
	if e.t.kept.replay != nil {
		return
	}
	e.t.output.flushSmall()
	e.t.ch.SetClipboard(p)
}

// DrawsPictures reports whether somebody who draws pictures follows the terminal.
func (e events) DrawsPictures() bool { return e.t.kept.replay == nil && e.t.ch.DrawsPictures() }

// notifyEvery is how often a terminal may notify somebody: a program in a loop must not fill the
// viewer's desktop.
const notifyEvery = time.Second

// Notification comes with a notification of the program's, which says text. The holder's viewers
// get it, and those who do not look are told as by a bell. Of several within a second only the
// first counts.
func (e events) Notification(p []byte, text string) {
	t := e.t
	now := t.host.now()
	if t.kept.replay != nil || now.Sub(t.attention.notified) < notifyEvery {
		return
	}
	t.attention.notified = now
	t.output.flushSmall()
	t.ch.Notify(p)
	t.emit(Event{Kind: EventNotice})
	t.attention.happened(WantNotice, Printable(text), false)
}

// Mark comes with a mark of shell integration for viewers' terminals: see [store.Mark].
func (e events) Mark(p []byte) {
	if e.t.kept.replay != nil {
		return
	}
	e.t.output.flushSmall()
	e.t.ch.Mark(p)
}

// Bell counts. Viewers hear the bell in the output itself, but for those of [Attach.Covered].
// The feed is told of the first within bellEvery.
func (e events) Bell() {
	t := e.t
	t.attention.bells++
	if now := t.host.now(); now.Sub(t.attention.rang) >= bellEvery {
		t.attention.rang = now
		t.emitLive(Event{Kind: EventBell})
		t.attention.happened(WantBell, "", false)
	}
}

// bellEvery is how often the feed is told of a terminal's bell: a program in a loop must not fill
// it.
const bellEvery = time.Second

// Title notes a title that the program has set. Of several in one piece of output the last one
// counts.
func (e events) Title(s string) { e.t.output.newTitle = CleanTitle(s) }

// Cwd notes the working directory, which shells tell with every prompt.
func (e events) Cwd(uri string) { e.t.output.newCwd = uri }

// tell appends the title and the directory that the piece of output has brought, if they are new.
func (e events) tell() {
	t := e.t
	if s := t.output.newTitle; s != "" && s != t.output.lastTitle && !t.renamed {
		t.output.lastTitle = s
		t.log.appendParsed(ahp.TerminalTitleChanged{Title: s})
		t.listChanged()
	}
	if uri := t.output.newCwd; uri != "" && uri != t.output.lastCwd {
		t.output.lastCwd = uri
		t.log.appendParsed(ahp.TerminalCwdChanged{Cwd: uri})
		t.listChanged()
		t.groupMayChange()
	}
	t.output.newTitle, t.output.newCwd = "", ""
}

// CommandDetection comes once, when shell integration is noticed.
func (e events) CommandDetection() {
	e.t.output.flushSmall()
	e.t.approvals.shellTellsCommands()
	e.t.log.appendParsed(ahp.TerminalCommandDetectionAvailable{})
}

// PromptStart comes with a prompt: a command that has not told its end is over.
func (e events) PromptStart() {
	e.t.commands.finish(nil)
	e.t.approvals.endTrust(errTrustEnded)
	e.t.commands.typist.prompts()
}

// CommandExecuted comes when the shell begins to run a command.
func (e events) CommandExecuted(line string) {
	t := e.t
	t.output.flushSmall()
	t.commands.finish(nil)
	t.commands.executed++
	t.commands.running = t.id + "-" + strconv.Itoa(t.commands.executed)
	t.commands.startedAt = t.commands.beganAt()
	begun := ahp.TerminalCommandExecuted{
		CommandID: t.commands.running, CommandLine: line,
		Timestamp: t.commands.startedAt.UnixMilli(),
		By:        t.commands.begunBy(), Cwd: cmp.Or(t.output.newCwd, t.output.lastCwd),
	}
	t.log.appendParsed(begun)
	t.output.content.command(t.channel(), begun)
	t.commands.began(begun.By)
}

// CommandFinished comes when a command has ended; known: with code.
func (e events) CommandFinished(code int, known bool) {
	if known {
		e.t.commands.finish(&code)
		return
	}
	e.t.commands.finish(nil)
}

// endedUnseen is how a program has ended whose exit status the keeper did not learn.
const endedUnseen = "unseen, because its keeper had ended"

// Exited comes last, when the program has ended.
func (e events) Exited(st ptypool.ExitStatus) {
	t := e.t
	t.kept.loadLocked()
	t.output.flushSmall() // it is left if the parser panicked
	e.tell()
	t.commands.finishLast(st.Code)
	t.life.exited = true
	t.status.over()
	t.term.Screen().EndProgress(nil) // it is left if the parser panicked
	t.noteProgress()
	t.approvals.endTrust(errTrustEnded)
	t.approvals.dropHeld(nil, ErrExited, anyHeld)
	t.approvals.dropPermissions(func(*permission) bool { return true })
	t.commands.typist.reacts()
	t.waiting.end()
	t.life.fleeting = t.life.transient && t.life.watching > 0
	t.life.exitedAt = t.host.now()
	if st.Code == ptypool.UnknownExit && t.host.cfg().Keeper != nil && !t.Client() {
		why := endedUnseen
		t.life.ended.CompareAndSwap(nil, &why)
	}
	told, origin := t.exec.exited(st.Code)
	t.attention.ended(WantExited, false) // before the log ends
	t.log.keepEnd(st, told)
	t.endRecording()
	t.life.exit.Store(&st) // before the action: its readers may ask for it
	t.ch.Append(told, origin)
	t.log.keepTrail()
	if t.waiting.list != nil {
		t.waiting.list.Exited(st.Code)
	}
	t.emit(Event{Kind: EventExited, ExitCode: &st.Code})
	close(t.life.done)
	t.host.list.changed()
	t.host.janitor.exited()
}

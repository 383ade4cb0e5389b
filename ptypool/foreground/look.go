package foreground

// Terminal has the facts about a terminal that Look and Readers need.
type Terminal struct {
	Leader    int  // the process that was started, the leader of the terminal's process session
	Group     int  // the process group in the foreground: tcgetpgrp(3)
	Canonical bool // the kernel edits lines: ICANON of termios(3)
	Echo      bool // what is typed is shown by the kernel: ECHO of termios(3)

	// Text is the text before the cursor on its line, without trailing blanks. Typed: a part of it
	// may have been typed.
	Text  string
	Typed bool
	// FullScreen: the program shows the alternate screen. CursorKeys: it has set application cursor
	// keys (DECCKM), as programs do that fill the main screen.
	FullScreen, CursorKeys bool
	// Command: shell integration says that Leader, a shell, is running a command.
	Command bool
}

// State is what the programs in the foreground are doing.
type State int

const (
	// Busy programs work, or wait for something other than typing. They may begin to wait for
	// typing without any sign.
	Busy State = iota
	// Idle is a shell or an interpreter at its prompt, or a program that fills the screen: it stays
	// Idle until something is typed or shown.
	Idle
	// Input: a program waits for a person to type.
	Input
	// Secret: a program waits for a person to type a secret.
	Secret
)

// Reads says whether the programs in the foreground read what is typed next.
type Reads int

const (
	// Nobody reads now.
	Nobody Reads = iota
	// Unknown: this process may not inspect them.
	Unknown
	// Somebody waits for the terminal.
	Somebody
)

// Look returns what the programs in the foreground do. It reads /proc, which takes some dozen
// microseconds per process of the terminal.
func Look(t Terminal) State { return lookNoting(t, nil) }

// lookNoting is Look, which notes what it has seen.
func lookNoting(t Terminal, n *notes) State {
	if hidden := t.Canonical && !t.Echo; !hidden && (t.FullScreen || t.CursorKeys && !t.Canonical) {
		return Idle
	}
	state, _, _ := look(t, n)
	return state
}

// Readers reports whether the programs in the foreground read what is typed next, and whether that
// is a secret. by is a thread that reads it, if reads is Somebody. It takes as long as Look.
func Readers(t Terminal) (reads Reads, secret bool, by Reader) {
	state, reads, by := look(t, nil)
	return reads, state == Secret, by
}

// look is Look, and Readers, for programs that do not fill the screen.
func look(t Terminal, n *notes) (state State, reads Reads, by Reader) {
	for _, p := range members(t, n) {
		how := p.waitsFor()
		switch {
		case how == polling, how == reading:
			reads, by = Somebody, p.reader
		case how == unknown, how == unsure:
			reads = max(reads, Unknown)
		}
		switch s := t.of(p, how); {
		case s == Secret, s == Idle && state != Secret:
			state = s
		case s == Input && state == Busy:
			state = s
		}
	}
	return state, reads, by
}

// AtPrompt reports whether a shell with a line editor is at its prompt, as far as the screen and
// the line's settings show it. told: it reports its commands.
func AtPrompt(t Terminal, told bool) bool {
	p := readProcess(t.Group)
	return p != nil && !t.Canonical && p.isShell() && t.atPrompt(p) &&
		(isCommandPrompt(t.Text) || told && !isQuestion(t.Text))
}

// RunsShell reports whether a shell with a line editor is in the foreground: the process group that
// reads the terminal is its own. The next program may read in another way.
func RunsShell(group int) bool {
	p := readProcess(group)
	return p != nil && p.isShell()
}

// of returns the state of one process of the foreground that waits as how says.
func (t *Terminal) of(p *process, how wait) State {
	switch shell := p.isShell(); {
	case how == nothing, how == unsure:
		return Busy
	case p.isPager(), shell && how != unknown && t.atPrompt(p):
		return Idle
	case how == unknown:
		return t.guess()
	case !shell && !t.reads(p, how): // a shell that is not at its prompt runs a read builtin
		if t.Canonical || t.Echo || !isCommandPrompt(t.Text) {
			return Busy
		}
		return Idle // an interpreter
	case t.Echo:
		return Input
	case t.Canonical, asksForSecret(t.Text):
		return Secret // whoever reads a line that is not shown
	}
	return Input
}

// atPrompt reports whether an interactive shell that waits for input does so at its prompt.
func (t *Terminal) atPrompt(shell *process) bool {
	switch {
	case shell.pid == t.Leader && t.Command:
		return false
	case !t.Canonical:
		return !t.Echo // read -n1 leaves the echo on
	}
	return t.Echo && shell.isPlain() && t.Text != "" &&
		(isCommandPrompt(t.Text) || !isQuestion(t.Text))
}

// reads reports whether a program that waits in a read or a poll does so for somebody to type.
func (t *Terminal) reads(p *process, how wait) bool {
	switch {
	case how == polling:
		return isQuestion(t.Text) && (t.Canonical || !isCommandPrompt(t.Text))
	case t.Canonical && !t.Echo:
		return true
	case !t.Canonical && !t.Echo:
		return t.Text != "" && !isCommandPrompt(t.Text)
	}
	return t.Text != "" && !t.Typed || p.writesTerminal()
}

// guess returns the state of a process that this process may not inspect.
func (t *Terminal) guess() State {
	switch {
	case t.Canonical && !t.Echo:
		return Secret
	case !isQuestion(t.Text):
		return Busy
	case t.Canonical:
		return Input
	case asksForSecret(t.Text):
		return Secret
	}
	return Busy
}

package vt

// Sink receives what Feed and Flush find, in the order of the output. Slices are valid only during
// the call. The methods are called from inside Feed and must not call the Screen.
type Sink interface {
	// Data is output for viewers, without queries and shell-integration marks, cut only between
	// runes and sequences. Invalid UTF-8 is unchanged.
	Data(p []byte)
	// Reply is the host's answer to a query of the program, to be written to its pty.
	Reply(p []byte)
	// Clipboard is a complete OSC 52 write, for the claim holder's viewer only; it is not in Data.
	Clipboard(p []byte)
	// Notification is a complete desktop notification (OSC 9, 99 or 777), for the claim holder's
	// viewer only; it is not in Data. text is what it says: at most MaxTitle bytes, without control
	// and invisible characters.
	Notification(p []byte, text string)
	// Title is the new title (OSC 0, OSC 2 or the title stack): at most MaxTitle bytes, without
	// control and invisible characters. The sequence is in Data too, with the same title.
	Title(s string)
	// Cwd is the shell's working directory as a file:// URI (OSC 7 or OSC 633;P;Cwd=).
	Cwd(uri string)
	// Mark is a mark of shell integration (OSC 133), for viewers whose window has the screen's size
	// only; it is not in Data. It may have cursor movement around it, which changes nothing.
	Mark(p []byte)
	// CommandDetection is called once, at the first shell-integration mark.
	CommandDetection()
	// PromptStart is called at OSC 633;A or 133;A.
	PromptStart()
	// CommandExecuted is called at OSC 633;C or 133;C. The line is that of the trusted OSC 633;E
	// before it, or empty. Between two calls there is always a CommandFinished.
	CommandExecuted(line string)
	// CommandFinished is called at OSC 633;D or 133;D after a CommandExecuted; known: the shell
	// gave an exit code.
	CommandFinished(code int, known bool)
	// DrawsPictures reports whether some viewer says that it draws pictures: see [Screen.Image].
	// Programs that ask are told that the terminal does then; others draw with characters.
	DrawsPictures() bool
	// ControlMode is called when the program is tmux in its control mode, which is for a terminal
	// program to read.
	ControlMode()
	// Zmodem is called when the program begins a Zmodem transfer, and waits for its peer. Data has
	// nothing that would have a viewer's terminal begin one, too.
	Zmodem()
	// Bell is BEL outside a sequence; it is in Data too.
	Bell()
}

// Discard is a Sink that drops everything. Sinks that need only some of the methods embed it.
type Discard struct{}

// Data drops it.
func (Discard) Data([]byte) {}

// Reply drops it.
func (Discard) Reply([]byte) {}

// Clipboard drops it.
func (Discard) Clipboard([]byte) {}

// Notification drops it.
func (Discard) Notification([]byte, string) {}

// Title drops it.
func (Discard) Title(string) {}

// Cwd drops it.
func (Discard) Cwd(string) {}

// Mark drops it.
func (Discard) Mark([]byte) {}

// CommandDetection drops it.
func (Discard) CommandDetection() {}

// PromptStart drops it.
func (Discard) PromptStart() {}

// CommandExecuted drops it.
func (Discard) CommandExecuted(string) {}

// CommandFinished drops it.
func (Discard) CommandFinished(int, bool) {}

// DrawsPictures returns false.
func (Discard) DrawsPictures() bool { return false }

// ControlMode drops it.
func (Discard) ControlMode() {}

// Zmodem drops it.
func (Discard) Zmodem() {}

// Bell drops it.
func (Discard) Bell() {}

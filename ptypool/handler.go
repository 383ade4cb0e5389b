package ptypool

import "termhost/ptypool/vt"

// Handler receives the events of a Term. All methods but Ready are called with the Term's lock
// held, so never concurrently; they must not block and must not lock the Term. The first call may
// come before Start has returned.
type Handler interface {
	// Started is called first, with the Handler's Term.
	Started(*Term)
	// Output gets every piece of output as the program printed it, before the parser: for a log.
	// The handler must not retain p.
	Output(p []byte)
	// Sink gets what the parser finds in the output. Slices are valid only during the call, and
	// methods must not use the screen, because the parser is changing it.
	vt.Sink
	// Fed is called after each piece of output. The screen may be read then; it shows all output so
	// far except what the parser holds back.
	Fed()
	// FrameEnded is called when the program has not completed a frame in time (mode 2026), and what
	// it has drawn so far is shown. The screen may be read then.
	FrameEnded()
	// Ready is called before output is read from the program, without the Term's lock. It may block
	// to slow the program down for a consumer that wants every byte; output that was read before
	// may still arrive. It must return when the terminal is hung up, or else the exit is never
	// reported.
	Ready()
	// Exited is called once, after the last output; nothing is called after it.
	Exited(ExitStatus)
}

package ptypool

import "termhost/ptypool/vt"

// Handler receives the events of a Term. All methods but Ready are called with the Term's lock
// held, so never concurrently; they must not block and must not lock the Term. The first call may
// come before Start has returned.
type Handler interface {
	// Started is called first, with the Handler's Term.
	Started(*Term)
	// Output gets every piece of output as the program printed it, before the parser sees it and
	// anything is made of it: for a log. p is not the handler's to keep.
	Output(p []byte)
	// Sink is what the parser finds in the output. Its slices are valid only during the call, and
	// its methods must not ask the screen anything, because the parser is still at work.
	vt.Sink
	// Fed is called after each whole piece of output. The screen then shows the Data so far, but
	// for what the parser holds back, and may be read.
	Fed()
	// Ready is called before output is taken from the program, without the Term's lock. It may
	// block: that is the backpressure of a consumer that wants every byte. What was taken before
	// may still be on its way. It must return when the terminal is hung up, or the end is never
	// reported.
	Ready()
	// Exited is called once, after the last output; nothing is called after it.
	Exited(ExitStatus)
}

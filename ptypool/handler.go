package ptypool

import "termhost/ptypool/vt"

// Handler receives what a Term does. All methods but Ready are called with the Term's lock held, so never concurrently;
// they must not block and must not lock the Term. The first call may come before Start or Adopt has returned; a Handler
// that needs the Term implements [Starter].
type Handler interface {
	// Sink is what the parser finds in the output. Its slices are valid only during the call.
	vt.Sink
	// Ready is called before output is taken from the program, without the Term's lock. It may block: that is the brake
	// of a consumer that wants every byte; what was taken before may still be on its way. It must return when the
	// terminal is hung up, or the end is never reported.
	Ready()
	// Exited is called once, after the last output; nothing is called after it.
	Exited(ExitStatus)
}

// Starter is implemented by a Handler that wants to know its Term before anything else is called.
type Starter interface {
	// Started is called first, with t's lock held.
	Started(t *Term)
}

// AfterFeed is implemented by a Handler that needs the screen as the output left it: while the parser runs, a Handler must not
// ask the screen anything.
type AfterFeed interface {
	// Fed is called with the Term's lock held, after every piece of output has been handled whole: the screen is what
	// the Data so far paints, but for what the parser holds back.
	Fed()
}

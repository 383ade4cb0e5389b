// Package viewer shows a terminal of the host, or a recording, on a peer's own terminal: it writes
// the program's output, draws overlays, and passes keys on. It implements the keys behind the
// prefix key, the list of terminals, and the dialog for an agent's input.
//
// [Attach] shows a terminal, [Replay] plays a recording, [Top] shows the list of terminals in a
// window of its own, and [Read] what one has printed. Each runs until the program, the person or
// the connection ends it, and returns how it ended. The package knows neither the command that it
// runs for nor how the peer is connected: a [Session] has all that it needs.
//
// # Goroutines
//
// A viewer's loop (watch) is the only one that writes. The input loop (inputLoop.run), on another
// goroutine, reads what is typed and acts on the keys behind the prefix. It may wait for the
// viewer's loop, which never waits for it. Both end with the peer's streams. Methods of viewer run
// in its loop and those of inputLoop under its lock, unless they say otherwise.
//
// # What lies over the screen
//
// An overlay is some lines over the program's screen: a notice, which disappears by itself, or the
// help of the prefix key, which a key closes. A dialog also has the keyboard while it is shown: the
// approval, the list, the reader, and the epilogue of an ended program. The host has the screen
// below, so covering it loses nothing.
//
// A viewer whose window has the terminal's size writes the program's output as it is. A notice is
// drawn over that once, and taken away before the next output (light). While a dialog or help lies
// over the screen, and in a window of another size, the viewer draws the screen and what lies over
// it together (draw).
//
// With a status line, a row of its own below that, the viewer only draws. Notices are in the row,
// and the lines that leave the screen still get into the terminal's scrollback (Status).
//
// On a terminal that draws nothing (see [IO].Draws) there is none of that.
package viewer

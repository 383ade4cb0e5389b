// Package viewer shows a terminal of the host, or a recording, on a peer's own terminal: it writes
// what the program writes, draws what lies over that, and passes on what is typed. It has the keys
// behind the prefix key, the list of terminals, and the dialog in which a person approves what an
// agent types.
//
// [Attach] shows a terminal and [Replay] plays a recording. Each runs until the program, the person
// or the connection ends it, and returns how it ended. The package knows neither the command that
// it runs for nor how the peer is connected: a [Session] has all that it gets.
//
// # Goroutines
//
// A viewer's loop (watch) is the only one that writes. The input loop (inputLoop.run), on another
// goroutine, reads what is typed and does what the keys behind the prefix stand for. It may wait
// for the viewer's loop, which never waits for it. Both end with the peer's streams. Methods of
// viewer run in its loop and those of inputLoop under its lock, unless they say otherwise.
//
// # What lies over the screen
//
// An overlay is some lines over the bottom of the program's screen, such as a notice or the help of
// the prefix key. A dialog has the keyboard as well, as long as it is shown: the approval, the
// picker, and the epilogue of a program that has ended. The screen below is the host's, so that
// nothing is lost by covering it.
package viewer

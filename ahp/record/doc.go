// Package record writes down what a terminal showed, with times, as asciicast, and plays it.
//
// A recording is a header and events in the order of their times: output as viewers were given it,
// new sizes, markers where a command began, and the exit of the program. Nothing of it was typed:
// input is never recorded.
//
// [Encoder] writes the two versions of asciicast that players know
// (docs.asciinema.org/manual/asciicast). [Player] shows the screen at any moment: it keeps
// keyframes, which are drawings of the screen at some places, and so does not have to begin at the
// beginning to go back.
//
// The package does no I/O and has no clock.
package record

// Package recordings keeps the recordings of terminals: files with what a terminal has shown, which
// outlive it. Who may record and look is for the host to decide, and what is recorded, too: see
// package host.
//
// They are in the state folder's folder recordings, named after the terminal and the time: ID.live
// is one that goes on, ID.rec one that has ended. Each is a log of one segment (package termlog): a
// Description, which is the [About], a checkpoint, and then what is in the terminal's own log too,
// as long as it is recorded (package journal says what the records have). So what was cut off by a
// crash can be added from there.
//
// A [Store] has all recordings of a host, and a [Writer] adds to one of them. A file that is full
// is followed by another one. When all together take too much, the oldest of whoever has most go
// first: see [Store.Excess].
package recordings

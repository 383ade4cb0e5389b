// Package recordings keeps the recordings of terminals: files of a terminal's output that outlive
// it. The host decides about permissions and contents: see package host.
//
// They are in the state folder's folder recordings, named after the terminal and the time: ID.live
// is one in progress, ID.rec one that has ended. Each is a log of one segment (package termlog): a
// Description, which is the [About], a checkpoint, and then the same records as in the terminal's
// own log (see package journal), from which a crash's losses can be restored.
//
// A [Store] has all recordings of a host, a [Recorder] makes that of one terminal, and a [Writer]
// adds to a file. When a file is full, another one continues it. When all together take too much,
// the oldest of the owner with the most go first: see [Store.Excess].
package recordings

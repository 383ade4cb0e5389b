// Package journal is what a host keeps on disk of its terminals and its clients, for the next host.
// It writes, and reads what this or an older version has written. The host decides what to do with
// it: see package host.
//
// In the state folder there are
//
//   - terms/ID, the folder of a terminal: its [Journal]. "meta" is the [Description], "log.N" are
//     the segments of the log (package termlog), "exit" says how the terminal ended, apart from the
//     log. A folder ID.gone is to be deleted, and ID.damaged could not be read.
//   - spare, with folders for terminals to come: [Spares].
//   - host.journal, with what a host must know besides its terminals: [Notes].
//   - serverseq, a serverSeq that no run has gone beyond: [HighWater].
//
// The records of a terminal's log are what it printed and its sizes, as package termlog has them,
// and between them an [Event] for each action, a [Snapshot] in each checkpoint, and at the end an
// [Ending]. The [Outline] is what listings show of a terminal: the description has it as of its
// writing, and the log has the changes since. [Restore] combines both.
//
// Output is handed to the kernel before anybody sees it, so a host that is killed loses nothing
// that was seen. A disk that is full or fails does not block a terminal: a Gap in the log says how
// much is missing, and why. A log that was cut, overwritten or replaced is shown as far as it is
// whole, with a Gap for the rest.
package journal

// Package journal is what a host keeps on disk of its terminals and its clients, for the next host.
// It stores, and reads what this or an older version has stored. What comes of that is for the host
// to decide: see package host.
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
// [Ending]. What listings show of a terminal is the [Outline]: the description has it as it was
// when that was written, and the log what has changed it since then. [Restore] puts both together.
//
// What is logged is in the kernel's hands before anybody sees what comes of it, so that a host that
// is killed loses nothing that was seen. A disk that is full or fails holds no terminal up: a Gap
// in the log says how much is missing, and why. A log that was cut, overwritten or replaced by
// something else while nobody looked is shown as far as it is whole, with a Gap where the rest was.
package journal

// Package journal keeps terminals and clients on disk for the next host. It reads the files of this
// and of older versions. The host decides their use: see package host.
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
// The records of a terminal's log are its output and sizes (package termlog), and between them an
// [Event] for each action, a [Snapshot] in each checkpoint, and at the end an [Ending]. The
// [Outline] is what listings show of a terminal: the description has it as of its writing, and the
// log has the changes since. [Restore] combines both.
//
// What people have decided about a terminal (its guard, its claim, its NAME) is in its journal and,
// so that a full disk loses none of it, in memory that the keeper holds: Decisions. A terminal of
// which a host cannot read that is guarded.
//
// A host that is killed loses no output that was seen: before any reader gets it, it is in a file,
// or in memory that the keeper shares, from which the keeper logs it (package keeper). From that
// memory the host writes it to the file some milliseconds later, or before anything else is written
// or read. If host and keeper are killed at once, output in that memory is lost. A disk that is
// full or fails does not block a terminal: a Gap in the log says how much is missing, and why. Of a
// log that was cut, overwritten or replaced, the intact part is shown, with a Gap for the rest.
package journal

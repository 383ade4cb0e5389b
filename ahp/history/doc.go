// Package history reads what terminals have printed: their logs (see ptypool/termlog), and
// recordings, which are logs as well.
//
// A [Log] is read as [Item]s: output as viewers got it, sizes, commands, gaps, the exit. All
// readers of records use a [Walker], which knows their rules: where a reader can begin, what a gap
// is, which checkpoint draws the screen after a gap, and what was cleared.
//
// What a terminal showed at a [Place] is a [Shown]: a screen that has been fed all items before the
// place. Readers need not start at the log's beginning: each reader leaves keyframes in an [Index],
// and the next one starts at the last keyframe before its place. A keyframe has clones of the
// screens, so reading from it gives byte for byte what reading from the beginning gives. The
// indexes of all logs share the memory of a [Cache]. So the cost of a page of lines, a screen or a
// piece of history depends on the distance between keyframes, not on its place in the log.
//
// A log can also be searched for a [Pattern], cut into an [Excerpt], and made a [Cast], which is
// written as asciicast (docs.asciinema.org/manual/asciicast) or shown by a [Player] at any of its
// moments.
//
// Reading takes long. It is done in pieces of some milliseconds; before each, a step of [Work] may
// wait or end it. The package does no I/O of its own and has no clock: a log's owner provides its
// records, the decoding of checkpoints and events ([Format]), and the permission to read
// ([Log.Allowed]).
package history

// Package history reads what terminals have printed: their logs (see ptypool/termlog), and
// recordings, which are logs as well.
//
// A [Log] is read as [Item]s: output as viewers got it, sizes, commands, gaps, the exit. One
// [Walker] knows the rules of a log's records: where a reader can begin, what a gap is, which
// checkpoint draws the screen behind one, and what was cleared. All readers of records use it.
//
// What a terminal showed at a [Place] is a [Shown]: a screen that has been fed all items before the
// place. Readers need not start at the log's beginning: as they walk they leave keyframes in an
// [Index], and the next one starts at the last keyframe before its place. A keyframe has clones of
// the screens, so reading from it gives byte for byte what a straight run gives. The indexes of all
// logs share the memory of a [Cache]. So the cost of a page of lines, a screen or a piece of
// history depends on the distance of keyframes, not on its place in the log.
//
// Besides, a log is searched for a [Pattern], made a [Cast], which is written as asciicast
// (docs.asciinema.org/manual/asciicast) or shown by a [Player] at any of its moments, and cut into
// an [Excerpt].
//
// Reading takes long. It is done in pieces of some milliseconds, with a step of [Work] before each,
// which may end it. The package does no I/O of its own and has no clock: a log's owner provides its
// records, the encoding of checkpoints and events, see [Format], and the permission to read, see
// [Log.Allowed].
package history

// Package history reads what terminals have printed: their logs (see ptypool/termlog), and
// recordings, which are logs as well.
//
// A [Log] is read as [Item]s: output as viewers got it, sizes, commands, gaps, the exit. One
// [Walker] knows the rules of a log's records: where a reader can begin, what a gap is, which
// checkpoint draws the screen behind one, and what was cleared. All who read records use it.
//
// What a terminal showed at a [Place] is a [Shown]: a screen to which all items before the place
// were given. Not every reader begins at the log's beginning: as readers walk they leave keyframes
// in an [Index], and the next one goes on from the last keyframe before what it wants. A keyframe
// has clones of the screens, so what is read from it is to the byte what a straight run reads. The
// indexes of all logs share the memory of a [Cache]. What a page of lines, a screen or a piece of
// history costs thus depends on the distance of keyframes, not on where in the log it is.
//
// Besides, a log is searched for a [Pattern], made a [Cast], which is written as asciicast
// (docs.asciinema.org/manual/asciicast) or shown by a [Player] at any of its moments, and cut into
// an [Excerpt].
//
// Reading takes long. It is done in pieces of some milliseconds, with a step of [Work] before each,
// which may end it. The package does no I/O of its own and has no clock: the owner of a log hands
// out its records. It does not know how checkpoints and events are encoded, see [Format], nor who
// may read what, see [Log.Allowed].
package history

// Package vt is the terminal emulator behind every termhost terminal: parser, shell-integration
// filter, query answering and screen model in one pass.
//
// # The parts
//
// A Screen consists of these parts. Each has a small interface, and knows no other part unless it
// is named here:
//
//   - parser finds where escape sequences and strings end, and keeps those that a chunk cuts.
//   - output is what viewers get of the program's output, and the way to the Sink: events come
//     after the output that was before them.
//   - model is what the program has drawn: two grids of cells, the cursor, the modes, the tables
//     that cells refer to, and the scrollback (history).
//   - titles, colors and shell are what the program has reported: its window's title, its colours
//     and, by shell-integration marks, its commands.
//   - queries answers what programs ask, from the model.
//   - fastScroll moves floods of lines straight into the scrollback.
//
// The writer makes what is drawn for viewers (AppendRedraw and the like) of these states.
//
// # One pass
//
// Screen.Feed reads a program's output once. Printable runs go straight into the screen's cells and
// extend a span of the caller's buffer that Sink.Data gets without a copy. A complete control
// sequence is applied to the screen, and then kept in the span, removed from it, or replaced. A
// rune or sequence cut by the end of a chunk is held back until it is complete, so any split of the
// same output gives the same data, events and screen.
//
// # What viewers get
//
// Viewers see what the screen understands. A sequence that the screen models is passed on; one that
// it does not (device control strings, printing, rectangle operations, double-width lines, unknown
// modes) is removed, because it would make a viewer's terminal differ from the
// screen that the next viewer is drawn from. Of operating system commands a short list passes:
// titles, colours, hyperlinks, working directory, progress, pointer shapes. Eight-bit controls
// (U+0080 to U+009F) become their seven-bit forms. Mode 1006 stands for 1016, whose pixels are
// those of one viewer, and the end of a progress for the mark of the end of its command.
//
// A picture is replaced by a box of characters that names it: see pictures.go.
//
// Sequences to which a terminal answers never reach a viewer. The usual ones are answered here,
// once, from the screen, through Sink.Reply; the rest are removed without an answer. OSC 52 writes
// go to Sink.Clipboard; reads are answered with the last write. Desktop notifications (OSC 9, 99
// and 777) go to Sink.Notification; of kitty's (OSC 99) only the text, because terminals answer the
// rest.
//
// # Why a parser of our own
//
// The parser of github.com/charmbracelet/x/ansi calls a handler per rune and copies each sequence's
// data; it reaches about 125 MB/s before a single cell is written, and DecodeSequence (240 MB/s)
// neither resumes in the middle of a sequence nor says where a held-back one began. The goal for
// parser and screen together is 150 MB/s, so the byte classes below are ours (step.go, the DEC/ANSI
// state machine described by Paul Williams, with UTF-8 and xterm's string terminators).
// BenchmarkXAnsi repeats the comparison.
//
// # Memory
//
// A cell is eight bytes. Styles, grapheme clusters and hyperlinks are kept once per terminal, and
// those that are no longer shown are dropped from time to time. Rows are allocated when first
// written. Lines that scroll off are stored as text with style changes, in blocks without pointers.
// Everything that is held back or stored for a program is bounded; the bounds are in limits.go.
//
// # References
//
// The package follows xterm's control sequences (invisible-island.net/xterm/ctlseqs) and the VT510
// manual; tests compare the screen with xterm.js over random output and recordings of real
// programs. Their differences are listed at xtermOutput in gen_test.go. Widths are those of package
// width: a character takes as many cells as wcwidth of the GNU C library says, so that the screen
// and readline agree. Grapheme clusters (Unicode annex 29) are measured in mode 2027 only, which a
// program must set (Contour's "Terminal Unicode Core").
//
// The package does no I/O, starts no goroutine and has no clock.
package vt

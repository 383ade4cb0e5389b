// Package width measures how many cells of a terminal's screen text takes.
//
// There is one table, generated from Unicode's (of the version that github.com/rivo/uniseg has; see
// gen.go). The screen model, output in columns, and any program that must agree with the screen,
// such as a terminal in a browser, take widths from it. A generator that writes the table for
// another language needs the class of every character (Of) with its cells (Class.Cells), and for
// each State and Class what follows (State.Next): all are small integers. The rule for the cells of
// several characters together is at Cluster.
//
// By itself a character takes as many cells as wcwidth of the GNU C library says, which is what
// readline, vi and most programs count with, and most terminals draw by. Where the two are of
// different versions of Unicode, the newer one decides: a character that the library does not know
// counts as one cell for readline.
//
// In mode 2027 characters form grapheme clusters (Unicode annex 29), and a cluster takes at most
// two cells.
package width

//go:generate go run gen.go

// Class is the class of a character: how many cells it takes, and with which others it makes one
// grapheme cluster.
type Class uint8

const (
	Control     Class = iota // no cell; joins nothing: control and format characters
	Narrow                   // one cell
	Wide                     // two cells
	Extend                   // no cell; joins what is before it
	ZWJ                      // no cell; zero width joiner: as Extend, and ties pictographs
	Picto                    // one cell; a pictograph
	WidePicto                // two cells; a pictograph
	Flag                     // one cell; a regional indicator: two make one flag
	Prepended                // one cell; joins what follows it
	Spacing                  // one cell; joins what is before it
	WideSpacing              // two cells; joins what is before it
	Leading                  // two cells; a Hangul leading consonant
	Vowel                    // no cell; a Hangul vowel
	Trailing                 // no cell; a Hangul trailing consonant
	Open                     // two cells; a Hangul syllable that ends in a vowel
	Closed                   // two cells; a Hangul syllable that ends in a consonant
	Modifier                 // two cells; the skin tone of the pictograph before it

	Classes = iota // the number of classes
)

// Of returns the class of r, which is a valid rune.
func Of(r rune) Class { return Class(blocks[int(index[r>>7])<<7|int(r&127)]) }

// cells has the number of cells of each class, two bits each.
const cells uint64 = 1<<(2*Narrow) | 2<<(2*Wide) | 1<<(2*Picto) | 2<<(2*WidePicto) | 1<<(2*Flag) |
	1<<(2*Prepended) | 1<<(2*Spacing) | 2<<(2*WideSpacing) |
	2<<(2*Leading) | 2<<(2*Open) | 2<<(2*Closed) | 2<<(2*Modifier)

// Cells returns how many cells a character of class c takes by itself.
func (c Class) Cells() int { return int(cells >> (2 * c) & 3) }

// InCluster returns how many cells a character of class c takes at the beginning of a grapheme
// cluster. A flag takes two cells as soon as its first half is there.
func (c Class) InCluster() int {
	if c == Flag {
		return 2
	}
	return c.Cells()
}

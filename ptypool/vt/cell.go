package vt

// cell is one position of the grid:
//
//	bits  0-20  a rune, or with cellCluster an index into table.clusters;
//	            0 for a position erased or never written
//	bits 21-24  the flags below
//	bits 32-63  an index into table.styles
type cell uint64

const (
	cellRune    cell = 1<<21 - 1
	cellCluster cell = 1 << 21 // the rune bits index a cluster of several runes
	cellWide    cell = 1 << 22 // the left half of a double-width character
	cellTail    cell = 1 << 23 // the right half; has no rune
	cellFill    cell = 1 << 24 // left empty at the margin because a wide character wrapped

	cellStyleShift = 32
)

// blank reports whether the cell shows no character.
func (c cell) blank() bool {
	return c&(cellRune|cellCluster|cellTail) == 0 || c&(cellRune|cellCluster|cellWide) == ' '
}

func (c cell) style() uint32 { return uint32(c >> cellStyleShift) }

// withStyle returns the cell in another style.
func (c cell) withStyle(id uint32) cell {
	return c&(1<<cellStyleShift-1) | cell(id)<<cellStyleShift
}

// row is one line of a grid. Its cells are nil while it is blank in the default style, and as many
// as the screen has columns otherwise.
type row struct {
	cells   []cell
	wrapped bool // the text continues in the next row without a line break
	marks   rowMarks
}

// used returns the number of cells up to the last that shows something: a character or a style that
// makes a blank visible.
func (r *row) used() int {
	n := len(r.cells)
	for n >= 4 && (r.cells[n-1]|r.cells[n-2]|r.cells[n-3]|r.cells[n-4])&^cellFill == 0 {
		n -= 4
	}
	for n > 0 && r.cells[n-1]&^(cellFill) == 0 {
		n--
	}
	return n
}

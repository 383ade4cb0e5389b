//go:build ignore

// This program writes static/symbols.ttf: the separators and signs of powerline prompts (U+E0A0 to
// U+E0A2, U+E0B0 to U+E0BF), which few fonts have, as wide and high as a cell of the usual ones. The
// tables are those of the OpenType specification that a browser demands.
package main

import (
	"bytes"
	"encoding/binary"
	"log"
	"math"
	"os"
	"slices"
)

// The cell, in units of which an em has 1000.
const (
	em          = 1000
	width       = 602 // DejaVu Sans Mono's and Menlo's; others are near
	top, bottom = 940, -250
	middle      = (top + bottom) / 2
	thin        = 60 // a line
)

type point struct{ x, y int }

// contour is a closed line, clockwise.
type contour []point

// glyphs returns the outlines by character.
func glyphs() map[rune][]contour {
	right := contour{{0, top}, {width, middle}, {0, bottom}}
	chevron := contour{{0, top}, {thin, top}, {width, middle}, {thin, bottom}, {0, bottom},
		{width - thin, middle}}
	half := arc(width)
	ring := append(arc(width), reversed(arc(width-thin))...)
	slash := contour{{width - thin, top}, {width, top}, {thin, bottom}, {0, bottom}}
	all := map[rune][]contour{
		0xe0a0: {box(110, 0, 180, 740), box(110, 240, 490, 310), box(420, 310, 490, 560),
			{{455, 740}, {590, 540}, {320, 540}}},
		0xe0a1: {box(60, 380, 120, 740), box(60, 380, 280, 440), box(330, 0, 390, 360),
			box(500, 0, 560, 360), {{330, 360}, {400, 360}, {560, 0}, {490, 0}}},
		0xe0a2: {box(90, 0, 512, 400), {{150, 400}, {150, 600}, {220, 700}, {382, 700}, {452, 600},
			{452, 400}, {382, 400}, {382, 570}, {345, 630}, {257, 630}, {220, 570}, {220, 400}}},
		0xe0b0: {right}, 0xe0b1: {chevron}, 0xe0b4: {half}, 0xe0b5: {ring},
		0xe0b8: {{{0, top}, {width, bottom}, {0, bottom}}}, 0xe0bb: {slash}, 0xe0bd: {slash},
		0xe0bc: {{{0, top}, {width, top}, {0, bottom}}},
	}
	for of, mirrored := range map[rune]rune{0xe0b0: 0xe0b2, 0xe0b1: 0xe0b3, 0xe0b4: 0xe0b6,
		0xe0b5: 0xe0b7, 0xe0b8: 0xe0ba, 0xe0bb: 0xe0b9, 0xe0bd: 0xe0bf, 0xe0bc: 0xe0be} {
		for _, c := range all[of] {
			all[mirrored] = append(all[mirrored], mirror(c))
		}
	}
	return all
}

func box(left, low, right, high int) contour {
	return contour{{left, high}, {right, high}, {right, low}, {left, low}}
}

// arc is the right half of an ellipse around the middle of the cell's left edge.
func arc(radius int) (c contour) {
	const steps = 32
	high := float64(top-middle) * float64(radius) / width
	for i := range steps + 1 {
		sin, cos := math.Sincos(math.Pi * (0.5 - float64(i)/steps))
		c = append(c, point{int(math.Round(float64(radius) * cos)), middle + int(math.Round(high*sin))})
	}
	return c
}

func reversed(c contour) contour {
	c = slices.Clone(c)
	slices.Reverse(c)
	return c
}

func mirror(c contour) (m contour) {
	for _, p := range reversed(c) {
		m = append(m, point{width - p.x, p.y})
	}
	return m
}

// table is what a font has, in big-endian order.
type table struct{ bytes.Buffer }

// put appends numbers: int16 and such as they are, and int as 16 bits.
func (t *table) put(values ...any) {
	for _, v := range values {
		if n, ok := v.(int); ok {
			v = uint16(n)
		}
		if err := binary.Write(t, binary.BigEndian, v); err != nil {
			log.Fatal(err)
		}
	}
}

func outline(contours []contour) []byte {
	var t table
	xs, ys := []int{}, []int{}
	for _, c := range contours {
		for _, p := range c {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	t.put(len(contours), slices.Min(xs), slices.Min(ys), slices.Max(xs), slices.Max(ys))
	end := -1
	for _, c := range contours {
		end += len(c)
		t.put(end)
	}
	t.put(0) // instructions
	for range xs {
		t.put(uint8(1)) // on the curve, with words for both coordinates
	}
	for _, list := range [][]int{xs, ys} {
		last := 0
		for _, v := range list {
			t.put(v - last)
			last = v
		}
	}
	if t.Len()%2 > 0 {
		t.put(uint8(0))
	}
	return t.Bytes()
}

func main() {
	all := glyphs()
	var runes []rune
	for r := range all {
		runes = append(runes, r)
	}
	slices.Sort(runes)
	var glyf, loca, hmtx, cmap table
	points, contours := 0, 0
	loca.put(0, 0) // of .notdef, which is empty
	hmtx.put(width, 0)
	for _, r := range runes {
		glyf.Write(outline(all[r]))
		loca.put(glyf.Len() / 2)
		hmtx.put(width, 0)
		n := 0
		for _, c := range all[r] {
			n += len(c)
		}
		points, contours = max(points, n), max(contours, len(all[r]))
	}
	cmap.put(0, 1, 3, 10, uint32(12), 12, 0, uint32(16+12*len(runes)), uint32(0), uint32(len(runes)))
	for i, r := range runes {
		cmap.put(uint32(r), uint32(r), uint32(i+1))
	}
	var head, hhea, maxp, os2, post, name table
	head.put(uint32(0x10000), uint32(0x10000), uint32(0), uint32(0x5f0f3cf5), 0, em, uint64(0),
		uint64(0), 0, bottom, width, top, 0, 8, 2, 0, 0)
	hhea.put(uint32(0x10000), top, bottom, 0, width, 0, 0, width, 1, 0, 0, uint64(0), 0, len(runes)+1)
	maxp.put(uint32(0x10000), len(runes)+1, points, contours, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
	os2.put(4, width, 400, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, [10]uint8{}, [4]uint32{},
		[]byte("none"), 0x40, int(runes[0]), int(runes[len(runes)-1]), top, bottom, 0, top, -bottom,
		uint64(0), 0, 0, 0, 0x20, 0)
	post.put(uint32(0x30000), uint32(0), -100, 50, uint32(1), uint32(0), uint32(0), uint32(0), uint32(0))
	name.put(0, 0, 6)
	write(map[string]*table{"OS/2": &os2, "cmap": &cmap, "glyf": &glyf, "head": &head, "hhea": &hhea,
		"hmtx": &hmtx, "loca": &loca, "maxp": &maxp, "name": &name, "post": &post})
}

// write puts the tables into a file.
func write(tables map[string]*table) {
	var tags []string
	for tag := range tables {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	var file, body table
	file.put(uint32(0x10000), len(tags), 128, 3, len(tags)*16-128)
	for _, tag := range tags {
		length := tables[tag].Len()
		for tables[tag].Len()%4 > 0 {
			tables[tag].put(uint8(0))
		}
		sum := uint32(0)
		for data := tables[tag].Bytes(); len(data) > 0; data = data[4:] {
			sum += binary.BigEndian.Uint32(data)
		}
		file.put([]byte(tag), sum, uint32(12+16*len(tags)+body.Len()), uint32(length))
		body.Write(tables[tag].Bytes())
	}
	file.Write(body.Bytes())
	if err := os.WriteFile("static/symbols.ttf", file.Bytes(), 0o666); err != nil {
		log.Fatal(err)
	}
}

package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The corpora imitate vtebench's cases and the flood of ordinary coloured output, for a screen of
// 80 by 24 cells.

const benchCols, benchRows = 80, 24

// coloredText is lines of 97 bytes with two SGR changes each.
func coloredText(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		line := fmt.Sprintf("\x1b[3%dm%08d\x1b[0m ", i%8, i)
		b.WriteString(line)
		for j := 0; j < 97-2-len(line); j++ {
			b.WriteByte(byte('a' + (i+j)%26))
		}
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// denseCells repaints the whole screen with a different style in each cell.
func denseCells(size int) []byte {
	var b bytes.Buffer
	for ch := byte('A'); b.Len() < size; ch++ {
		if ch > 'Z' {
			ch = 'A'
		}
		b.WriteString("\x1b[H")
		for i := range benchCols * benchRows {
			n := (i/benchCols + i%benchCols + int(ch)) % 156
			fmt.Fprintf(&b, "\x1b[38;5;%d;48;5;%d;1;3;4m%c", n+100, n, ch)
		}
	}
	return b.Bytes()
}

// trueColor repaints the screen with a different colour in each cell and frame.
func trueColor(size int) []byte {
	var b bytes.Buffer
	for f := 0; b.Len() < size; f++ {
		b.WriteString("\x1b[H")
		for i := range benchCols * benchRows {
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dmx", (i+f)&255, i>>3&255, f&255)
		}
	}
	return b.Bytes()
}

// scrolling is short lines, one screen line each.
func scrolling(size int) []byte { return bytes.Repeat([]byte("y\r\n"), size/3) }

// regionScrolling scrolls part of the screen.
func regionScrolling(size int) []byte {
	return append([]byte("\x1b[5;20r\x1b[20H"), scrolling(size)...)
}

// fullScreenScroll is lines of exactly the screen's width.
func fullScreenScroll(size int) []byte {
	return bytes.Repeat(append(bytes.Repeat([]byte("z"), benchCols), "\r\n"...), size/(benchCols+2))
}

// cursorMotion writes single characters all over the screen.
func cursorMotion(size int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for b.Len() < size {
		fmt.Fprintf(&b, "\x1b[%d;%dH%c", 1+r.IntN(benchRows), 1+r.IntN(benchCols), 'a'+r.IntN(26))
	}
	return b.Bytes()
}

// unicodeText mixes scripts, boxes, combining characters and emoji.
func unicodeText(size int) []byte {
	line := "αβγδε Привет мир — ┌──────┐│█▓▒░│ 日本語テキスト 한국어 e\u0301a\u0308 ✓ → 😀🎉 👍🏽 ﷺ " +
		"नमस्ते \u2603\r\n"
	return bytes.Repeat([]byte(line), size/len(line))
}

// symbols is random characters of the first plane, like vtebench's unicode case.
func symbols(size int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(3, 4))
	for b.Len() < size {
		if c := rune(0xa1 + r.IntN(0xd000)); c != 0xad {
			b.WriteRune(c)
		}
	}
	return b.Bytes()
}

var corpora = []struct {
	name string
	make func(int) []byte
}{
	{"colored_text", coloredText},
	{"dense_cells", denseCells},
	{"true_color", trueColor},
	{"scrolling", scrolling},
	{"scrolling_region", regionScrolling},
	{"scrolling_fullscreen", fullScreenScroll},
	{"cursor_motion", cursorMotion},
	{"unicode_text", unicodeText},
	{"unicode_symbols", symbols},
}

// BenchmarkFeed feeds chunks of the size that a pty gives. It should reach 150 MB/s on colored_text
// and 40 MB/s on the dense corpora.
func BenchmarkFeed(b *testing.B) {
	for _, c := range corpora {
		b.Run(c.name, func(b *testing.B) {
			in := c.make(4 << 20)
			v := New(benchCols, benchRows, Options{ScrollbackLines: 10_000})
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				for p := in; len(p) > 0; {
					n := min(len(p), 64<<10)
					v.Feed(p[:n], nil)
					p = p[n:]
				}
			}
		})
	}
}

// BenchmarkXAnsi runs the parsers of charmbracelet/x/ansi on the same input, without a screen.
func BenchmarkXAnsi(b *testing.B) {
	in := coloredText(4 << 20)
	b.Run("Parser", func(b *testing.B) {
		p := ansi.NewParser()
		p.SetHandler(ansi.Handler{
			Print: func(rune) {}, Execute: func(byte) {}, HandleCsi: func(ansi.Cmd, ansi.Params) {},
		})
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			for _, c := range in {
				p.Advance(c)
			}
		}
	})
	b.Run("DecodeSequence", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			var state byte
			for p := in; len(p) > 0; {
				_, _, n, next := ansi.DecodeSequence(p, state, nil)
				state, p = next, p[n:]
			}
		}
	})
}

func BenchmarkRedraw(b *testing.B) {
	for _, lines := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("scrollback=%d", lines), func(b *testing.B) {
			v := New(benchCols, benchRows, Options{ScrollbackLines: 10_000})
			v.Feed(coloredText(2<<20), nil)
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = v.AppendRedraw(dst[:0], Redraw{Scrollback: lines})
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}

// BenchmarkMemory reports the memory of a terminal in bytes: idle at a prompt, and with 1,000 lines
// of scrollback.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"idle", []byte("\x1b]0;title\a\x1b[1;32muser@host\x1b[0m:~$ ")},
		{"full_screen", denseCells(benchCols * benchRows * 30)},
		{"scrollback_1000", coloredText(97 * 1000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			const n = 100
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				vs := make([]*Screen, n)
				for i := range vs {
					vs[i] = New(benchCols, benchRows, Options{ScrollbackLines: 10_000})
					vs[i].Feed(c.in, nil)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/terminal")
				runtime.KeepAlive(vs)
			}
		})
	}
}

package acpproxy

import (
	"strings"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ptypool/vt"
)

const (
	// maxText is how much of a terminal's text the editor gets, in bytes. All of it is sent again
	// with every change.
	maxText = 32 << 10
	// maxTextLines is how many lines that have left the screen a terminal's text has.
	maxTextLines = 2000
)

// cutMark stands above a text whose beginning is missing.
const cutMark = "[...]\n"

// render returns what a terminal shows and has shown, as plain text.
func render(st *ahp.TerminalState) string {
	screen := newScreen(st.Cols, st.Rows)
	for i := range st.Content {
		for _, chunk := range st.Content[i].Text.Chunks() {
			screen.Feed(chunk, nil)
		}
	}
	return plain(screen, false)
}

// renderOutput is render for the output that the agent gets, on a screen of t's size.
func (p *Proxy) renderOutput(t *remote, out *wire.OutputResult) string {
	p.viewMu.Lock()
	cols, rows := t.text.cols, t.text.rows
	p.viewMu.Unlock()
	screen := newScreen(cols, rows)
	screen.Feed([]byte(out.Output), nil)
	return plain(screen, out.Truncated)
}

func newScreen(cols, rows int) *vt.Screen {
	return vt.New(max(cols, 1), max(rows, 1), vt.Options{ScrollbackLines: maxTextLines})
}

// plain returns a screen, and what has left it, as text. cut: output before that is missing.
func plain(screen *vt.Screen, cut bool) string {
	text := strings.TrimRight(string(screen.AppendHistoryText(nil)), " \n")
	if n := screen.HistoryLines(); n >= maxTextLines && screen.Scrolled() > uint64(n) {
		cut = true
	}
	if len(text) > maxText {
		text = text[len(text)-maxText:]
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
		cut = true
	}
	if cut {
		text = cutMark + text
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return text
}

// fenced returns text as a code block of Markdown (CommonMark, section 4.5), which is what editors
// take the text of a tool call for.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

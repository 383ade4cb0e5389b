package vt

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"

	"termhost/ptypool/picture"
)

// itermPrefix begins iTerm2's own commands (iterm2.com/documentation-images.html).
const itermPrefix = "1337;"

// iterm applies one of iTerm2's commands, without the prefix: pictures only, as a whole or in
// parts.
func (s *Screen) iterm(body []byte) {
	ps := &s.pictures
	name, rest, _ := bytes.Cut(body, []byte{'='})
	switch string(name) {
	case "File":
		arguments, data, _ := bytes.Cut(rest, []byte{':'})
		s.showFile(string(arguments), data)
	case "MultipartFile":
		ps.about, ps.file = bytes.Clone(rest[:min(len(rest), maxCSI)]), nil
	case "FilePart":
		if ps.about != nil && len(ps.file)+len(rest) <= maxPicture {
			ps.file = append(ps.file, rest...)
		}
	case "FileEnd":
		if ps.about != nil {
			s.showFile(string(ps.about), ps.file)
		}
		ps.about, ps.file = nil, nil
	}
}

// showFile shows a file at the cursor, unless it is one to be downloaded.
func (s *Screen) showFile(arguments string, encoded []byte) {
	inline, keepsRatio := false, true
	var width, height string
	for field := range strings.SplitSeq(arguments, ";") {
		switch key, value, _ := strings.Cut(field, "="); key {
		case "inline":
			inline = value == "1"
		case "width":
			width = value
		case "height":
			height = value
		case "preserveAspectRatio":
			keepsRatio = value != "0"
		}
	}
	if !inline {
		return
	}
	p := picture.Picture{Kind: picture.File, Data: decoded(encoded)}
	p.Measure()
	m := &s.model
	cellWidth, cellHeight := s.cellSize()
	want := size{cellsOf(width, m.width, cellWidth), cellsOf(height, m.height(), cellHeight)}
	if keepsRatio && want.cols > 0 && want.rows > 0 && p.Width > 0 && p.Height > 0 {
		// The picture is as large as fits in there.
		if wide := p.Width * want.rows * cellHeight; wide > p.Height*want.cols*cellWidth {
			want.rows = 0
		} else {
			want.cols = 0
		}
	}
	s.showPicture(p, want, behind)
}

// decoded returns what stands in base64, as far as that goes.
func decoded(text []byte) []byte {
	text = bytes.TrimRight(text, "=")
	data := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
	n, _ := base64.RawStdEncoding.Decode(data, text)
	return data[:n]
}

// cellsOf reads a length: in cells, in pixels (px) or in percent of the screen (%). 0: it says
// nothing.
func cellsOf(length string, all, cell int) int {
	n, err := strconv.Atoi(strings.TrimRight(length, "px%"))
	if err != nil || n <= 0 {
		return 0
	}
	n = min(n, picture.MaxSide)
	switch {
	case strings.HasSuffix(length, "px"):
		return (n + cell - 1) / cell
	case strings.HasSuffix(length, "%"):
		return max(1, n*all/100)
	}
	return n
}

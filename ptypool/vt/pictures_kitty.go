package vt

import (
	"bytes"
	"strconv"

	"termhost/ptypool/picture"
)

// maxSent bounds kitty's pictures that are sent to be shown later.
const maxSent = 64

// kitty is a command of kitty's graphics protocol (sw.kovidgoyal.net/kitty/graphics-protocol).
// Pictures in files and in shared memory are refused: the host reads no files for a program, and
// programs that are refused send the picture itself. Animations are not shown; parts of pictures
// are shown as wholes; pictures are not drawn below text, nor by Unicode placeholders.
type kitty struct {
	action, medium byte // a, t
	format         int  // f
	id, number     string
	width, height  int // s, v
	cols, rows     int // c, r
	more           bool
	deflated       bool
	stays          bool // C=1
	virtual        bool // U=1
	quiet          int  // q
	what           byte // d
	data           []byte
	shown          string // the ID of the box
}

// parseKitty reads a command, without introducer and terminator.
func parseKitty(body []byte) kitty {
	k := kitty{action: 't', medium: 'd', format: 32, what: 'a'}
	control, payload, _ := bytes.Cut(body, []byte{';'})
	k.data = payload
	for field := range bytes.SplitSeq(control, []byte{','}) {
		key, value, _ := bytes.Cut(field, []byte{'='})
		if len(key) != 1 || len(value) == 0 {
			continue
		}
		n, _ := strconv.Atoi(string(value[:min(len(value), 9)])) // a letter is 0
		switch key[0] {
		case 'a':
			k.action = value[0]
		case 't':
			k.medium = value[0]
		case 'd':
			k.what = value[0]
		case 'f':
			k.format = n
		case 'i':
			k.id = strconv.Itoa(n)
		case 'I':
			k.number = strconv.Itoa(n)
		case 's':
			k.width = n
		case 'v':
			k.height = n
		case 'c':
			k.cols = min(n, MaxCols)
		case 'r':
			k.rows = min(n, MaxRows)
		case 'm':
			k.more = n == 1
		case 'o':
			k.deflated = value[0] == 'z'
		case 'C':
			k.stays = n == 1
		case 'U':
			k.virtual = n == 1
		case 'q':
			k.quiet = n
		}
	}
	return k
}

// kitty applies a command of the protocol.
func (s *Screen) kitty(body []byte) {
	k, ps := parseKitty(body), &s.pictures
	if ps.partial { // only m and the data count then
		next := ps.parts
		next.data, next.more = append(ps.parts.data, k.data...), k.more
		k, ps.parts, ps.partial = next, kitty{}, false
	} else {
		k.data = bytes.Clone(k.data)
	}
	if k.more && (k.action == 't' || k.action == 'T' || k.action == 'q') {
		ps.parts, ps.partial = k, true
		if len(k.data) > maxPicture {
			ps.parts.data = k.data[:maxPicture] // what is more is not drawn
		}
		return
	}
	switch k.action {
	case 'q':
		if s.output.sink.DrawsPictures() {
			s.answerKitty(k, k.refusal())
		}
	case 't', 'T':
		s.receiveKitty(k)
	case 'p':
		if sent, ok := ps.sent[k.key()]; ok {
			sent.cols, sent.rows, sent.stays, sent.virtual = k.cols, k.rows, k.stays, k.virtual
			s.showKitty(sent)
			s.answerKitty(k, "")
		} else {
			s.answerKitty(k, "ENOENT:there is no such picture")
		}
	case 'd':
		s.deleteKitty(k)
	}
}

// key is by what a picture is found again.
func (k kitty) key() string {
	if k.id == "" && k.number != "" {
		return "I" + k.number
	}
	return k.id
}

// refusal says why a picture is not taken; "": it is.
func (k kitty) refusal() string {
	switch {
	case k.medium != 'd':
		return "EINVAL:only pictures that are sent themselves are taken"
	case k.format != 24 && k.format != 32 && k.format != 100:
		return "EINVAL:unknown format"
	}
	return ""
}

// receiveKitty takes a picture, and shows it or keeps it for later.
func (s *Screen) receiveKitty(k kitty) {
	if why := k.refusal(); why != "" {
		s.answerKitty(k, why)
		return
	}
	ps := &s.pictures
	if key := k.key(); key != "" {
		if ps.sent == nil {
			ps.sent = map[string]kitty{}
		}
		delete(ps.sent, key)
		total := len(k.data)
		for _, other := range ps.sent {
			total += len(other.data)
		}
		for old := range ps.sent { // any of them: programs send one again that is gone
			if len(ps.sent) < maxSent && total <= keptPictures {
				break
			}
			total -= len(ps.sent[old].data)
			delete(ps.sent, old)
		}
		ps.sent[key] = k
	}
	if k.action == 'T' {
		s.showKitty(k)
	}
	s.answerKitty(k, "")
}

// showKitty shows a picture at the cursor.
func (s *Screen) showKitty(k kitty) {
	if k.virtual {
		return
	}
	p := picture.Picture{Kind: picture.File, Data: decoded(k.data)}
	switch k.format {
	case 24, 32:
		p.Kind, p.Deflated = picture.RGBA, k.deflated
		if k.format == 24 {
			p.Kind = picture.RGB
		}
		p.Width, p.Height = min(k.width, picture.MaxSide+1), min(k.height, picture.MaxSide+1)
	default:
		p.Measure()
	}
	then := behind
	if k.stays {
		then = stays
	}
	k.shown = s.showPicture(p, size{k.cols, k.rows}, then)
	if _, ok := s.pictures.sent[k.key()]; ok {
		s.pictures.sent[k.key()] = k
	}
}

// answerKitty tells the program what has become of a command that names a picture; "": all is well.
func (s *Screen) answerKitty(k kitty, problem string) {
	if k.key() == "" || k.quiet >= 2 || k.quiet == 1 && problem == "" {
		return
	}
	name := "i=" + k.id
	if k.id == "" {
		name = "I=" + k.number
	}
	if problem == "" {
		problem = "OK"
	}
	s.output.reply("\x1b_G" + name + ";" + problem + "\x1b\\")
}

// deleteKitty takes pictures off the screen: all, or the one that is named. A capital letter has
// the picture forgotten that was sent, too.
func (s *Screen) deleteKitty(k kitty) {
	ps := &s.pictures
	sent, named := ps.sent[k.key()]
	switch k.what {
	case 'a', 'A':
		s.eraseBoxes("")
		if k.what == 'A' {
			ps.sent = nil
		}
	case 'i', 'I', 'n', 'N':
		if named && sent.shown != "" {
			s.eraseBoxes(sent.shown)
		}
		if k.what == 'I' || k.what == 'N' {
			delete(ps.sent, k.key())
		}
	}
}

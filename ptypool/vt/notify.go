package vt

import (
	"bytes"
	"encoding/base64"
)

// oscNotify9 is OSC 9: a notification (iTerm2, "Proprietary Escape Codes"), or one of ConEmu's
// functions, of which only progress (4) is harmless.
func (s *Screen) oscNotify9(seq, rest []byte) verdict {
	if params, ok := bytes.CutPrefix(rest, []byte("4;")); ok {
		return s.oscProgress(params)
	}
	if !conEmu(rest) {
		s.output.notify(seq, string(rest))
	}
	return drop
}

// oscNotify777 is OSC 777;notify;title;body (rxvt-unicode's extension). Others of this number are
// shells' marks.
func oscNotify777(o *output, seq, rest []byte) {
	if text, ok := bytes.CutPrefix(rest, []byte("notify;")); ok {
		title, body, _ := bytes.Cut(text, []byte{';'})
		o.notify(seq, titled(string(title), string(body)))
	}
}

// titled joins a notification's title and its body.
func titled(title, body string) string {
	if title == "" || body == "" {
		return title + body
	}
	return title + ": " + body
}

// notify passes a notification on, unless it says nothing or is longer than maxNotification.
func (o *output) notify(seq []byte, text string) {
	if text = CleanTitle(text); text != "" && len(seq) <= maxNotification {
		o.event().Notification(seq, text)
	}
}

// conEmu reports whether a terminal may take the body of OSC 9 for one of ConEmu's functions,
// because the part before the first semicolon, or all of it, is a number. Terminals may read
// numbers differently, so spaces, signs and leading zeros are accepted.
func conEmu(body []byte) bool {
	number, _, _ := bytes.Cut(body, []byte{';'})
	number = bytes.TrimLeft(bytes.TrimSpace(number), "+-")
	for _, b := range number {
		if b < '0' || b > '9' {
			return false
		}
	}
	return len(number) > 0
}

// kittyNote is a notification of OSC 99 that comes in pieces (kitty, "Desktop notifications").
type kittyNote struct{ id, title, body string }

// osc is OSC 99: metadata ; payload. A whole notification is passed on with its text alone, so that
// no terminal has anything to answer. Icons, buttons, queries and closing are dropped.
func (n *kittyNote) osc(o *output, rest []byte) {
	metadata, payload, ok := bytes.Cut(rest, []byte{';'})
	if !ok {
		return
	}
	id, kind, last, encoded := "", "title", true, false
	for field := range bytes.SplitSeq(metadata, []byte{':'}) {
		key, value, _ := bytes.Cut(field, []byte{'='})
		switch string(key) {
		case "i":
			id = string(value)
		case "p":
			kind = string(value)
		case "d":
			last = string(value) != "0"
		case "e":
			encoded = string(value) == "1"
		}
	}
	if id != n.id || id == "" {
		*n = kittyNote{id: id}
	}
	if encoded {
		payload = decodeBase64(payload)
	}
	if room := maxNotification - len(n.id) - len(n.title) - len(n.body); len(payload) > room {
		*n = kittyNote{}
		return
	}
	switch kind {
	case "title":
		n.title += string(payload)
	case "body":
		n.body += string(payload)
	default:
		return
	}
	if !last {
		return
	}
	if text := CleanTitle(titled(n.title, n.body)); text != "" {
		o.notify([]byte("\x1b]99;;"+text+"\x1b\\"), text)
	}
	*n = kittyNote{}
}

// decodeBase64 decodes base64 with or without padding; nil: it is none.
func decodeBase64(text []byte) []byte {
	decoded, err := base64.RawStdEncoding.AppendDecode(nil, bytes.TrimRight(text, "="))
	if err != nil {
		return nil
	}
	return decoded
}

package keyboard

import "strings"

// AppendPaste appends what a terminal in the modes m sends when text is pasted: with CR for the
// ends of its lines, and in brackets if the program has asked for them. The mark that ends a paste
// is left out of the text.
func AppendPaste(p []byte, m Modes, text []byte) []byte {
	s := strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(string(text))
	if !m.Paste {
		return append(p, s...)
	}
	for strings.Contains(s, pasteEnd) { // leaving one out may make another
		s = strings.ReplaceAll(s, pasteEnd, "")
	}
	p = append(p, PasteBegin...)
	p = append(p, s...)
	return append(p, pasteEnd...)
}

// AppendKeys appends what a terminal in the modes m sends for keys.
func AppendKeys(p []byte, m Modes, keys ...Key) []byte {
	for _, k := range keys {
		p = k.Append(p, m)
	}
	return p
}

package viewer

import (
	"unicode/utf8"

	"termhost/ptypool/keyboard"
)

// edited returns a line after k is typed at its end.
func edited(line string, k keyboard.Key) string {
	switch {
	case k.Code == keyboard.Backspace:
		_, n := utf8.DecodeLastRuneInString(line)
		return line[:len(line)-n]
	case k.Mods == keyboard.Ctrl && k.Code == 'u':
		return ""
	case k.Types():
		return line + string(k.Code)
	}
	return line
}

package viewer

import (
	"time"

	"termhost/ptypool/keyboard"
)

const seekStep = 5 * time.Second

// take handles keys.
func (r *replay) take(p []byte) {
	p = append(r.keys, p...)
	r.keys = nil
	for len(p) > 0 && !r.quit {
		k, n := keyboard.Read(p)
		if n == 0 {
			if len(p) > 1 || p[0] != 0x1b {
				r.keys = p
				return
			}
			k, n = keyboard.Key{Code: keyboard.Escape}, 1
		}
		r.note = ""
		switch {
		case r.reader != nil:
			if r.reader.key(k) == dialogEnds {
				r.closeReader()
			}
		case r.asking:
			r.ask(k)
		default:
			r.key(k)
		}
		p = p[n:]
	}
}

// key handles a key.
func (r *replay) key(k keyboard.Key) {
	switch {
	case k.Mods&keyboard.Ctrl != 0:
		r.quit = k.Code == 'c'
	case k.Code == 'q':
		r.quit = true
	case k.Code == ' ':
		r.pause()
	case k.Code == keyboard.Left:
		r.seek(-seekStep)
	case k.Code == keyboard.Right:
		r.seek(seekStep)
	case k.Code == 'n':
		if !r.nextCommand() {
			r.note = "no command comes after this"
		}
	case k.Code == 'p':
		r.previousCommand()
	case k.Code == '+', k.Code == '=':
		r.scale(2)
	case k.Code == '-':
		r.scale(0.5)
	case k.Code == '.':
		r.step()
	case k.Code == '/':
		r.asking, r.text = true, ""
	case k.Code == '[':
		r.lookBack()
	case k.Code == '?':
		r.note = "space stops, arrows seek 5 s, n/p command, +/- speed, . frame, / search," +
			" [ lines, q quits"
	}
}

// ask handles a key of the text to find. The replay stops where it is found.
func (r *replay) ask(k keyboard.Key) {
	switch {
	case k.Code == keyboard.Enter:
		r.asking = false
		if r.text != "" && !r.find(r.text) {
			r.note = "not found: " + r.text
		}
	case k.Code == keyboard.Escape, k.Mods&keyboard.Ctrl != 0:
		r.asking = false
	default:
		r.text = edited(r.text, k)
	}
}

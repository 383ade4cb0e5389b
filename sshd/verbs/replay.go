package verbs

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"termhost/ahp/record"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

// replay plays a recording in the peer's terminal, on its alternate screen, so that what was there
// comes back. The screen of the recording is drawn anew for each frame: the program's own output
// would set modes of the viewer's terminal, and needs a window of the very size.
type replay struct {
	v     *invocation
	p     *record.Player
	typed chan []byte
	done  chan struct{} // closed when the replay is over

	speed  float64
	paused bool
	base   time.Duration // where in the recording it was at the time since
	since  time.Time

	keys   []byte // the beginning of a key that a read has cut
	asking bool   // for what is to be found; the keys go there
	text   string // what is to be found
	note   string // shown instead of the progress until the next key
	quit   bool
}

const (
	seekStep = 5 * time.Second
	// previousMargin is how long after the begin of a command `p` goes to the one before.
	previousMargin = time.Second
	// progressTick is how often the progress line is drawn if nothing else is.
	progressTick = 500 * time.Millisecond
)

const (
	beginReplay = "\x1b[?1049h\x1b[0m\x1b[H\x1b[2J"
	endReplay   = "\x1b[0m\x1b[?5l\x1b[?25h\x1b[H\x1b[2J\x1b[?1049l"
)

// run plays until the viewer quits or the peer's streams end.
func (r *replay) run() int {
	out := r.v.Stdout()
	if _, err := out.Write([]byte(beginReplay)); err != nil {
		return StatusFailed
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last time.Time // of the last drawing
	for !r.quit {
		if wait := frame - time.Since(last); wait > 0 {
			timer.Reset(wait)
		} else {
			r.advance()
			if _, err := out.Write(r.draw()); err != nil {
				return StatusFailed
			}
			last = time.Now()
			timer.Reset(r.nextDrawing())
		}
		select {
		case p := <-r.typed:
			r.take(p)
			timer.Reset(0)
		case <-timer.C:
		case <-r.v.Resized():
		case <-r.v.ctx.Done():
			_, _ = out.Write([]byte(endReplay)) // it may be there still
			return r.v.cutShort()
		}
	}
	if _, err := out.Write([]byte(endReplay)); err != nil {
		return StatusFailed
	}
	return StatusOK
}

// now returns where in the recording it is.
func (r *replay) now() time.Duration {
	if r.paused {
		return r.base
	}
	played := time.Duration(float64(time.Since(r.since)) * r.speed)
	return min(r.base+played, r.p.Length())
}

// goOnAt goes on from a place in the recording.
func (r *replay) goOnAt(at time.Duration) { r.base, r.since = at, time.Now() }

func (r *replay) advance() {
	if !r.paused {
		r.p.Advance(r.now())
	}
}

// ended reports whether all has been played.
func (r *replay) ended() bool {
	_, more := r.p.Due()
	return !more
}

// nextDrawing returns when something changes by itself.
func (r *replay) nextDrawing() time.Duration {
	due, more := r.p.Due()
	if r.paused || !more {
		return time.Hour
	}
	wait := time.Duration(float64(due-r.now()) / r.speed)
	return min(max(wait, 0), progressTick)
}

// take does what keys stand for.
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
		if r.asking {
			r.ask(k)
		} else {
			r.key(k)
		}
		p = p[n:]
	}
}

// key does what a key stands for.
func (r *replay) key(k keyboard.Key) {
	at := r.now()
	switch {
	case k.Mods&keyboard.Ctrl != 0:
		r.quit = k.Code == 'c'
	case k.Code == 'q':
		r.quit = true
	case k.Code == ' ':
		r.paused = !r.paused
		r.goOnAt(at)
	case k.Code == keyboard.Left:
		r.seek(max(at-seekStep, 0))
	case k.Code == keyboard.Right:
		r.seek(min(at+seekStep, r.p.Length()))
	case k.Code == 'n':
		if !r.p.NextCommand() {
			r.note = "no command comes after this"
		}
		r.goOnAt(r.p.At())
	case k.Code == 'p':
		margin := previousMargin
		if r.paused {
			margin = 0
		}
		r.p.PreviousCommand(margin)
		r.goOnAt(r.p.At())
	case k.Code == '+', k.Code == '=':
		r.setSpeed(r.speed * 2)
	case k.Code == '-':
		r.setSpeed(r.speed / 2)
	case k.Code == '.':
		r.paused = true
		r.p.Step()
		r.goOnAt(r.p.At())
	case k.Code == '/':
		r.asking, r.text = true, ""
	case k.Code == '?':
		r.note = "space stops, arrows seek 5 s, n/p command, +/- speed, . frame, / search, q quits"
	}
}

func (r *replay) seek(at time.Duration) {
	r.p.Seek(at)
	r.goOnAt(at)
}

func (r *replay) setSpeed(speed float64) {
	r.goOnAt(r.now())
	r.speed = min(max(speed, minSpeed), maxSpeed)
}

// ask takes a key of the text that is to be found. What is found is shown standing still.
func (r *replay) ask(k keyboard.Key) {
	switch {
	case k.Code == keyboard.Enter:
		r.asking = false
		if r.text == "" {
			return
		}
		r.advance()
		if !r.p.Find(r.text) {
			r.note = "not found: " + r.text
			return
		}
		r.paused = true
		r.goOnAt(r.p.At())
	case k.Code == keyboard.Escape, k.Mods&keyboard.Ctrl != 0:
		r.asking = false
	case k.Code == keyboard.Backspace:
		_, n := utf8.DecodeLastRuneInString(r.text)
		r.text = r.text[:len(r.text)-n]
	case k.Types():
		r.text += string(k.Code)
	}
}

// draw returns what draws the screen, and the progress line below it.
func (r *replay) draw() []byte {
	w := r.v.Window()
	if w.Cols <= 0 || w.Rows <= 0 {
		w = Window{80, 24}
	}
	screen := r.p.Screen().AppendPicture(nil, w.Cols, max(w.Rows-1, 1))
	o := overlay{lines: []string{r.progress(lineRoom(w))}, table: true}
	return o.appendTo(screen, w)
}

// barCells is how long the bar is, if there is room for it.
const barCells = 20

// progress returns the progress line.
func (r *replay) progress(room int) string {
	if r.asking {
		return "/" + r.text + "_"
	}
	if r.note != "" {
		return r.note
	}
	state, at := "playing", r.now()
	switch {
	case r.ended():
		state, at = "end", r.p.Length()
	case r.paused:
		state = "paused"
	}
	text := fmt.Sprintf("%-7s %s / %s", state, clock(at), clock(r.p.Length()))
	if room >= width.String(text)+2*barCells {
		text += " " + bar(at, r.p.Length())
	}
	if r.speed != 1 {
		text += fmt.Sprintf(" x%g", r.speed)
	}
	if c := r.p.Command(); c != "" {
		text += "  $ " + c
	}
	const keys = "  ? keys, q quits"
	if width.String(text)+len(keys) <= room {
		text += strings.Repeat(" ", room-width.String(text)-len(keys)) + keys
	}
	return text
}

// bar returns a bar that is filled as far as at is in length.
func bar(at, length time.Duration) string {
	filled := barCells
	if length > 0 {
		filled = int(float64(at) / float64(length) * barCells)
	}
	return "[" + strings.Repeat("=", filled) + strings.Repeat("-", barCells-filled) + "]"
}

// clock writes a time as minutes and seconds, and hours if need be.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

package viewer

import (
	"context"
	"errors"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
)

// ErrLost is what Replay returns when the peer's streams end.
var ErrLost = errors.New("viewer: the peer's streams have ended")

// Recording is what Replay plays.
type Recording struct {
	Player *history.Player
	Work   *host.Work // of the player
	Speed  float64    // how many times as fast as it was, from MinSpeed to MaxSpeed
	// From is the recording, and Name the peer's name for it: a reader shows its lines.
	From host.Source
	Name string
}

// replay plays a recording on the alternate screen of the peer's terminal, so that the main one
// comes back. It draws the recording's screen anew for each frame: the program's own output would
// set modes of the viewer's terminal, and need a window of the same size.
type replay struct {
	playhead
	s     *Session
	rec   Recording
	ctx   context.Context // ends with the peer's streams
	typed chan []byte
	done  chan struct{} // closed when the replay is over

	reader *reader       // has the window and the keys; nil: there is none
	stale  chan struct{} // 1 deep: see repaint

	keys   []byte // the beginning of a partial key
	asking bool   // for the text to find; keys go there
	text   string // the text to find
	note   string // shown instead of the progress until the next key
	quit   bool
}

// progressTick is how often the progress line is drawn if nothing else is.
const progressTick = 500 * time.Millisecond

const (
	beginReplay = "\x1b[?1049h\x1b[0m\x1b[H\x1b[2J"
	endReplay   = "\x1b[0m\x1b[?5l\x1b[?25h\x1b[H\x1b[2J\x1b[?1049l"
)

// Replay plays a recording in the peer's terminal until the person quits. It returns ErrLost if
// ctx, which ends with the peer's streams, is done before, or the error of a write.
func Replay(ctx context.Context, s *Session, rec Recording) error {
	r := &replay{playhead: playhead{p: rec.Player, speed: rec.Speed, since: time.Now()},
		s: s, rec: rec, ctx: ctx, typed: make(chan []byte), done: make(chan struct{}),
		stale: make(chan struct{}, 1)}
	defer close(r.done)
	defer r.closeReader()
	s.Go("reading what is typed", r.read)
	return r.run()
}

// repaint implements stage.
func (r *replay) repaint() {
	select {
	case r.stale <- struct{}{}:
	default:
	}
}

// end implements stage: a reader ends by its keys alone.
func (r *replay) end(dialog) {}

// lookBack opens a reader of the recording's lines; the replay stops.
func (r *replay) lookBack() {
	if !r.paused {
		r.pause()
	}
	r.reader = newReader(r.ctx, r.s, r, readerOptions{name: r.rec.Name, from: r.rec.From})
}

func (r *replay) closeReader() {
	if r.reader != nil {
		r.reader.closed()
		r.reader = nil
	}
}

// read passes on what is typed, until the input or the replay ends.
func (r *replay) read() {
	for {
		buf := make([]byte, readBytes)
		n, err := r.s.Stdin().Read(buf)
		if err != nil {
			return // the connection ends next
		}
		select {
		case r.typed <- buf[:n]:
		case <-r.done:
			return
		}
	}
}

func (r *replay) run() error {
	out := r.s.Stdout()
	if _, err := out.Write([]byte(beginReplay)); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last time.Time // of the last drawing
	for !r.quit {
		if wait := frame - time.Since(last); wait > 0 {
			timer.Reset(wait)
		} else {
			r.advance()
			r.rec.Work.Rest() // a write may block
			if _, err := out.Write(r.draw()); err != nil {
				return err
			}
			last = time.Now()
			timer.Reset(r.nextDrawing())
		}
		r.rec.Work.Rest()
		select {
		case p := <-r.typed:
			r.take(p)
			timer.Reset(0)
		case <-timer.C:
		case <-r.stale:
			timer.Reset(0)
		case <-r.s.Resized():
		case <-r.ctx.Done():
			_, _ = out.Write([]byte(endReplay)) // the peer may still be there
			return ErrLost
		}
	}
	r.rec.Work.Rest()
	_, err := out.Write([]byte(endReplay))
	return err
}

// nextDrawing returns when the screen or the progress changes next.
func (r *replay) nextDrawing() time.Duration {
	wait, changes := r.nextChange()
	if !changes {
		return time.Hour
	}
	return min(wait, progressTick)
}

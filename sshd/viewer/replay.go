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
}

// replay plays a recording on the alternate screen of the peer's terminal, so that the main one
// comes back. It draws the recording's screen anew for each frame: the program's own output would
// set modes of the viewer's terminal, and need a window of the same size.
type replay struct {
	playhead
	io    IO
	work  *host.Work
	typed chan []byte
	done  chan struct{} // closed when the replay is over

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
func Replay(ctx context.Context, io IO, rec Recording) error {
	r := &replay{playhead: playhead{p: rec.Player, speed: rec.Speed, since: time.Now()},
		io: io, work: rec.Work, typed: make(chan []byte), done: make(chan struct{})}
	defer close(r.done)
	io.Go("reading what is typed", r.read)
	return r.run(ctx)
}

// read passes on what is typed, until the input or the replay ends.
func (r *replay) read() {
	for {
		buf := make([]byte, readBytes)
		n, err := r.io.Stdin().Read(buf)
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

func (r *replay) run(ctx context.Context) error {
	out := r.io.Stdout()
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
			r.work.Rest() // a write may block
			if _, err := out.Write(r.draw()); err != nil {
				return err
			}
			last = time.Now()
			timer.Reset(r.nextDrawing())
		}
		r.work.Rest()
		select {
		case p := <-r.typed:
			r.take(p)
			timer.Reset(0)
		case <-timer.C:
		case <-r.io.Resized():
		case <-ctx.Done():
			_, _ = out.Write([]byte(endReplay)) // the peer may still be there
			return ErrLost
		}
	}
	r.work.Rest()
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

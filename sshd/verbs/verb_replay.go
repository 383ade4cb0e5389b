package verbs

import (
	"errors"
	"flag"
	"strconv"
	"time"

	"termhost/ahp/record"
)

// The bounds of --speed: beyond them a recording stands still, or is over at once.
const (
	minSpeed = 1.0 / 16
	maxSpeed = 1024.0
)

var errSpeed = errors.New("a speed is a number from 1/16 (0.0625) to 1024")

// defineReplay plays what a terminal has shown, or a recording.
func defineReplay(fs *flag.FlagSet) func(*invocation) int {
	speed := 1.0
	fs.Func("speed", "play `N` times as fast", func(text string) (err error) {
		speed, err = strconv.ParseFloat(text, 64)
		if err != nil || !(speed >= minSpeed && speed <= maxSpeed) {
			return errSpeed
		}
		return nil
	})
	var idle time.Duration
	durationFlag(fs, &idle, "idle", "cut pauses that are longer than `D`, such as 2s, to D")
	return func(v *invocation) int { return v.replay(speed, idle) }
}

func (v *invocation) replay(speed float64, idle time.Duration) int {
	if idle < 0 {
		return v.misused("--idle: a pause cannot be shorter than nothing")
	}
	if !v.onTerminal() {
		return v.needsTerminal("or use `cast`, whose output asciinema plays")
	}
	release, err := v.Conn.WaitReading(v.ctx)
	if err != nil {
		return v.failed(err)
	}
	defer release()
	c, err := v.Host.Cast(v.principal(), v.args[0])
	if err != nil {
		return v.failed(err)
	}
	v.tellCut(c)
	r := &replay{v: v, p: record.NewPlayer(c.Header, c.Events, idle), speed: speed,
		since: time.Now(), typed: make(chan []byte), done: make(chan struct{})}
	defer close(r.done)
	v.Go("reading what is typed", r.read)
	return r.run()
}

// read passes on what is typed, until the input or the replay ends.
func (r *replay) read() {
	for {
		buf := make([]byte, readBytes)
		n, err := r.v.Stdin().Read(buf)
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

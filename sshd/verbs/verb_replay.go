package verbs

import (
	"errors"
	"flag"
	"strconv"
	"time"

	"termhost/ahp/history"
	"termhost/sshd/viewer"
)

var errSpeed = errors.New("a speed is a number from 1/16 (0.0625) to 1024")

// defineReplay plays what a terminal has shown, or a recording.
func defineReplay(fs *flag.FlagSet) func(*invocation) int {
	speed := 1.0
	fs.Func("speed", "play `N` times as fast", func(text string) (err error) {
		speed, err = strconv.ParseFloat(text, 64)
		if err != nil || !(speed >= viewer.MinSpeed && speed <= viewer.MaxSpeed) {
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
	if v.plainTerminal() {
		return v.needsScreen("`ssh HOST log` prints what one has shown")
	}
	release, err := v.Conn.WaitReading(v.ctx)
	if err != nil {
		return v.failed(err)
	}
	defer release()
	work := v.Conn.Work(v.ctx)
	defer work.Rest()
	from, err := v.Conn.FindSource(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	c, err := v.Conn.Cast(work, from)
	if err != nil {
		return v.failed(err)
	}
	v.tellCut(c)
	p := history.NewPlayer(c.Header, c.Events, idle)
	p.While(func() bool { return work.Step() == nil })
	err = viewer.Replay(v.ctx, v.session(), viewer.Recording{Player: p, Work: work, Speed: speed,
		From: from, Name: v.args[0]})
	switch {
	case errors.Is(err, viewer.ErrLost):
		return v.cutShort()
	case err != nil:
		return StatusFailed
	}
	return StatusOK
}

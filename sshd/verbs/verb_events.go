package verbs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"
	"unicode"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// defineEvents prints events of terminals until the peer goes.
func defineEvents(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print each as a JSON object on a line of its own")
	var s ahp.Selector
	selectorFlag(fs, &s)
	return func(v *invocation) int { return v.watchEvents(*asJSON, s) }
}

// eventsPulled is how many events are written at a time.
const eventsPulled = 100

func (v *invocation) watchEvents(asJSON bool, s ahp.Selector) int {
	only, err := v.findAll(v.args)
	if err != nil {
		return v.failed(err)
	}
	r, err := v.Conn.Events(only...)
	if err != nil {
		return v.failed(err)
	}
	defer r.Close()
	r.Select(s)
	form := v.eventLine
	if asJSON {
		form = func(e *host.Event) []byte { return v.withHost(eventJSON(e)) }
	}
	stop := v.interrupted()
	var list []host.Event
	for {
		if list = r.Pull(list[:0], eventsPulled); len(list) > 0 {
			var lines bytes.Buffer
			for i := range list {
				lines.Write(form(&list[i]))
				lines.WriteByte('\n')
			}
			if _, err := v.stdout.Write(lines.Bytes()); err != nil {
				return StatusFailed
			}
			continue
		}
		select {
		case <-r.Signal():
		case sig := <-v.Signals():
			if sig == syscall.SIGINT || sig == syscall.SIGTERM {
				return StatusOK
			}
		case <-stop:
			return StatusOK
		case <-v.OutputRefused():
			return StatusOK
		case <-v.ctx.Done():
			return v.cutShort(only...)
		}
	}
}

// interrupted returns a channel that is closed when ctrl-C is typed at the peer's terminal, which
// is in raw mode. Without a terminal nothing is read, and the end of the input ends nothing.
func (v *invocation) interrupted() <-chan struct{} {
	if !v.onTerminal() {
		return nil
	}
	stop := make(chan struct{})
	v.Go("reading what is typed", func() {
		in := v.Stdin()
		buf := make([]byte, readBytes)
		for {
			n, err := in.Read(buf)
			if bytes.IndexByte(buf[:n], keyboard.Interrupt) >= 0 {
				close(stop)
				_, _ = io.Copy(io.Discard, in)
				return
			}
			if err != nil {
				return
			}
		}
	})
	return stop
}

func eventJSON(e *host.Event) []byte {
	text, _ := json.Marshal(e) // strings and numbers: it cannot fail
	return text
}

// eventLine formats an event for people: time, terminal, kind, persons and details.
func (c *Caller) eventLine(e *host.Event) []byte {
	line := []string{e.Time.Format(time.RFC3339)}
	if e.Terminal != "" {
		line = append(line, c.shown(e.Terminal))
	}
	line = append(line, eventWords(e.Kind))
	if e.Ask != "" {
		line = append(line, e.Ask)
	}
	if e.By != "" {
		line = append(line, "by", e.By)
	}
	switch {
	case e.Waiting != host.WaitingNone && e.Kind == host.EventWaits:
		line = append(line, "for", string(e.Waiting))
	case e.Status != "":
		line = append(line, "is", string(e.Status))
	case e.Was != "":
		line = append(line, "from", e.Was)
	case e.To != "" && e.To != e.By:
		line = append(line, "to", e.To)
	case e.Count > 0:
		line = append(line, fmt.Sprint(e.Count))
	}
	if e.ExitCode != nil {
		line = append(line, fmt.Sprintf("with %d", *e.ExitCode))
	}
	if e.DurationMs != nil {
		line = append(line, "after", (time.Duration(*e.DurationMs) * time.Millisecond).String())
	}
	if e.Reason != "" {
		line = append(line, "("+e.Reason+")")
	}
	return []byte(strings.Join(line, " "))
}

// eventWords returns the name of a kind as words: "command started".
func eventWords(kind host.EventKind) string {
	var words strings.Builder
	for _, r := range string(kind) {
		if unicode.IsUpper(r) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}

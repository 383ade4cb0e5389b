package verbs

import (
	"flag"
	"fmt"
	"strconv"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
)

// defineRecord turns the recording of a terminal on or off.
func defineRecord(*flag.FlagSet) func(*invocation) int { return (*invocation).record }

// record prints the recording's name alone on stdout.
func (v *invocation) record() int {
	on := v.args[1] == "on"
	if !on && v.args[1] != "off" {
		return v.misused("say on or off, not %s", host.Printable(v.args[1]))
	}
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	name, err := v.Conn.Record(t, on)
	switch {
	case err != nil:
		return v.failed(err)
	case name == "":
		fmt.Fprintf(v.stderr, "termhost: %s is not recorded\n", v.shown(t.Name()))
	default:
		fmt.Fprintln(v.stdout, v.shown(name))
	}
	return StatusOK
}

// defineRecordings lists the recordings.
func defineRecordings(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	return func(v *invocation) int { return v.recordings(*asJSON) }
}

func (v *invocation) recordings(asJSON bool) int {
	list, err := v.Conn.Recordings()
	switch {
	case err != nil:
		return v.failed(err)
	case asJSON:
		return v.printJSON(list)
	}
	if others := v.others(); len(others) > 0 {
		defer fmt.Fprintf(v.stderr, "other hosts have theirs: `ssh -J HOST %s recordings`\n",
			others[0].Name)
	}
	if len(list) == 0 {
		fmt.Fprintln(v.stderr, v.told("no recordings; `ssh HOST record NAME on` begins one"))
		return StatusOK
	}
	rows := [][]string{{"RECORDING", "TERMINAL", "STARTED", "ENDED", "BYTES"}}
	for _, r := range list {
		ended := "-"
		if r.EndedAt != nil {
			ended = r.EndedAt.Format(time.RFC3339)
		}
		rows = append(rows, []string{r.Recording, r.Terminal, r.StartedAt.Format(time.RFC3339),
			ended, strconv.FormatInt(r.Bytes, 10)})
	}
	writeTable(v.stdout, rows, 0)
	return StatusOK
}

// defineCast prints what a terminal has shown, or a recording, as asciicast.
func defineCast(fs *flag.FlagSet) func(*invocation) int {
	old := fs.Bool("v2", false, "in version 2, for asciinema before 3.0")
	return func(v *invocation) int {
		if *old {
			return v.cast(history.V2)
		}
		return v.cast(history.V3)
	}
}

func (v *invocation) cast(version int) int {
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
	if history.Write(work.Writer(v.stdout), version, c.Header, c.Events) != nil {
		return StatusFailed
	}
	return StatusOK
}

// tellCut tells the peer if the beginning is missing.
func (v *invocation) tellCut(c *history.Cast) {
	if c.Truncated {
		fmt.Fprintf(v.stderr, "termhost: the beginning of %s is gone: it printed more than"+
			" log_bytes, and this is the rest\n", c.Name)
	}
}

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"
)

// restart has commands that go on while the host ends and another one starts. The files "away" and
// "back" say what the host does, "ready" that all commands run, and "seen" that the agent has got
// what was printed while there was no host.
func (t *agentTurn) restart([]string) error {
	line := func(before, meanwhile string) string {
		return before + "; until [ -e away ]; do sleep 0.05; done; " + meanwhile
	}
	const forever = "until [ -e back ]; do sleep 0.05; done; "
	ids := map[string]string{}
	for _, c := range []struct {
		name, line, until string
		limit             int
	}{
		{"long", line("echo before", "echo during; "+forever+"echo after; exit 7"), "before\r\n", 0},
		{"short", line("echo $$ > short; echo before", "printf 'half \\342'; sleep 0.1; printf '\\202\\254'; exit 5"),
			"before\r\n", 0},
		{"cut", line("seq 1 2000", "seq 2001 2010; "+forever+"seq 2011 2012"), "2000\r\n", 12},
		{"flood", "i=0; until [ -e back ]; do i=$((i+1)); echo $i; done; echo end", "1\r\n", 0},
		{"kill", "echo up; exec sleep 300", "up\r\n", 0},
		{"release", "echo up; exec sleep 300", "up\r\n", 0},
	} {
		id, err := t.create(c.limit, "sh", "-c", c.line)
		if err != nil {
			return err
		}
		ids[c.name] = id
		for out := ""; !strings.Contains(out, c.until); {
			r, err := t.output(id)
			if err != nil {
				return err
			}
			out = r.Output
		}
	}
	if _, err := t.embed(ids["long"], "a long command"); err != nil {
		return err
	}
	type end struct {
		acpsdk.WaitForTerminalExitResponse
		err error
	}
	ends := map[string]chan end{}
	for name, id := range ids {
		ends[name] = make(chan end, 1)
		go func() {
			st, err := t.wait(t.ctx, id)
			ends[name] <- end{st, err}
		}()
	}
	if err := os.WriteFile("ready", nil, 0o600); err != nil {
		return err
	}
	for out := ""; !strings.Contains(out, "during"); { // it is asked for on the way, too
		r, err := t.output(ids["long"])
		if err != nil {
			return err
		}
		out = r.Output
	}
	if err := os.WriteFile("seen", nil, 0o600); err != nil {
		return err
	}
	for _, name := range []string{"short", "long", "cut", "flood"} {
		st := <-ends[name]
		if st.err != nil {
			return fmt.Errorf("%s: %w", name, st.err)
		}
		out, err := t.output(ids[name])
		if err != nil {
			return err
		}
		text := strconv.Quote(out.Output)
		if name == "flood" {
			text = countedLines(out.Output, out.Truncated)
		}
		t.say("%s: %s %s truncated %t", name, ended(st.ExitCode, st.Signal), text, out.Truncated)
	}
	if err := t.kill(ids["kill"]); err != nil {
		return err
	}
	st := <-ends["kill"]
	t.say("killed: %s", ended(st.ExitCode, st.Signal))
	if err := t.release(ids["release"]); err != nil {
		return err
	}
	st = <-ends["release"]
	_, err := t.output(ids["release"])
	t.say("released: %s, %s", ended(st.ExitCode, st.Signal), refusal(err))
	id, err := t.create(0, "sh", "-c", "exit 9")
	if err != nil {
		return err
	}
	another, err := t.wait(t.ctx, id)
	t.say("another: %s", ended(another.ExitCode, another.Signal))
	return errors.Join(err, t.release(ids["long"]), t.release(id))
}

// countedLines checks that each line of a flood follows the one before.
func countedLines(out string, truncated bool) string {
	lines := strings.Split(strings.TrimSuffix(out, "\r\nend\r\n"), "\r\n")
	if truncated {
		lines = lines[1:] // which may be the end of one
	}
	last, err := strconv.Atoi(lines[0])
	if err != nil || !truncated && last != 1 {
		return fmt.Sprintf("begins with %q", lines[0])
	}
	for _, line := range lines[1:] {
		if n, err := strconv.Atoi(line); err != nil || n != last+1 {
			return fmt.Sprintf("has %q after %d", line, last)
		}
		last++
	}
	return "has every line once"
}

// linger starts a command that ends by SIGKILL only, has it killed if a word says so, and waits for
// its end.
func (t *agentTurn) linger(words []string) error {
	const line = "trap '' HUP TERM; echo $$ > pid; while :; do sleep 0.1; done"
	id, err := t.create(0, "sh", "-c", line)
	for text := []byte(nil); err == nil && len(text) == 0; {
		text, _ = os.ReadFile("pid") // it may not be there yet
	}
	if err == nil && len(words) > 0 {
		err = t.kill(id)
	}
	if err = errors.Join(err, os.WriteFile("ready", nil, 0o600)); err != nil {
		return err
	}
	st, err := t.wait(t.ctx, id)
	t.say("lingered: %s", ended(st.ExitCode, st.Signal))
	return err
}

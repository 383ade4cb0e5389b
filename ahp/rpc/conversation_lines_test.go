package rpc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"termhost/ahp"
)

var (
	dataPattern = regexp.MustCompile(
		`^(.*"action":\{"type":"terminal/data","data":".*)("\},"serverSeq":<seq>\}\})$`)
	volatile = []struct {
		pattern *regexp.Regexp
		stand   string
	}{
		{regexp.MustCompile(`"(serverSeq|fromSeq)":\d+`), `"$1":<seq>`},
		{regexp.MustCompile(`"timestamp":\d+`), `"timestamp":<time>`},
		{regexp.MustCompile(`"durationMs":\d+`), `"durationMs":<ms>`},
		{regexp.MustCompile(`"defaultDirectory":"[^"]*"`), `"defaultDirectory":"<dir>"`},
		{regexp.MustCompile(`"since":"[^"]*"`), `"since":"<time>"`},
	}
)

// joined appends a line. Output that follows output of the same terminal is joined
// with it, even if the root's list has come in between.
func joined(lines []string, line string) []string {
	last := len(lines) - 1
	for last >= 0 && list.MatchString(lines[last]) {
		last--
	}
	if last >= 0 {
		a, b := dataPattern.FindStringSubmatch(lines[last]), dataPattern.FindStringSubmatch(line)
		const open = `"data":"`
		if a != nil && b != nil {
			i := strings.Index(b[1], open) + len(open)
			if strings.HasPrefix(a[1], b[1][:i]) {
				lines[last] = a[1] + b[1][i:] + a[2]
				return lines
			}
		}
	}
	return append(lines, line)
}

// line checks a message of the host and returns it as the files show it.
func (c *conversation) line(s *speaker, msg []byte) string {
	c.check(s, msg)
	text := string(msg)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.stand)
	}
	if home, err := os.UserHomeDir(); err == nil {
		text = strings.ReplaceAll(text, `"cwd":"`+ahp.FileURI(home)+`"`, `"cwd":"<home>"`)
	}
	return text
}

func (c *conversation) check(s *speaker, msg []byte) {
	c.t.Helper()
	var m ahp.Message
	if err := json.Unmarshal(msg, &m); err != nil || m.Version != "2.0" {
		c.t.Fatalf("%s is no JSON-RPC message: %v", msg, err)
	}
	if m.Method == "action" {
		var e ahp.Envelope
		if err := json.Unmarshal(m.Params, &e); err != nil {
			c.t.Fatalf("%s: %v", msg, err)
		}
		c.rising(s, e.ServerSeq, msg)
		// A rejected action is as its sender made it, and AHP 0.5 does not know
		// terminal/output.
		newer := bytes.Contains(e.Action, []byte(`"type":"terminal/output"`))
		if s.strict && e.RejectionReason == "" && !newer {
			c.schemas.Check(c.t, "actions", "ActionEnvelope", m.Params)
		}
		return
	}
	if m.Method == "" {
		s.answered[string(m.ID)] = true
	}
	if m.Error != nil {
		return
	}
	var r struct {
		ProtocolVersion string         `json:"protocolVersion"`
		ServerSeq       uint64         `json:"serverSeq"`
		Actions         []ahp.Envelope `json:"actions"`
	}
	method := s.asked[string(m.ID)]
	if err := json.Unmarshal(m.Result, &r); err == nil && r.ProtocolVersion != "" {
		s.strict = strings.HasPrefix(r.ProtocolVersion, "0.5.")
		s.last = r.ServerSeq
	}
	for _, e := range r.Actions {
		c.rising(s, e.ServerSeq, msg)
	}
	if s.strict {
		checkResult(c.t, c.schemas, method, m.Result)
	}
}

func (c *conversation) rising(s *speaker, seq uint64, msg []byte) {
	c.t.Helper()
	if seq <= s.last {
		c.t.Errorf("serverSeq fell from %d: %s", s.last, msg)
	}
	s.last = seq
}

// difference shows the first line that differs, with its neighbours.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; i < len(w) || i < len(g); i++ {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			before := w[max(0, i-2):min(i, len(w))]
			return fmt.Sprintf("line %d, after\n  %s\nthe file has\n- %s\nand the host sent\n+ %s",
				i+1, strings.Join(before, "\n  "), a, b)
		}
	}
	return ""
}

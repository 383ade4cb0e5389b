package viewer

import (
	"fmt"
	"strings"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/sshd/wording"
)

// nature describes the input: how much, its effect, and what its lines do not show clearly.
func (d *approval) nature() string {
	text, them := "type "+wording.Counted(len(d.is.Lines), "line"), "it"
	if len(d.is.Lines) > 1 {
		them = "them"
	}
	switch {
	case d.is.Secret:
		return "answer the question for a secret; nothing else will read it (" + d.is.Ask + ")"
	case d.is.Does == ahp.AskStarts:
		text = "start a program"
	case d.is.Does == ahp.AskRuns:
		text += " and run " + them
	case d.is.Does == ahp.AskActs:
		text += " without Enter; the program acts at once"
	default:
		text += " without Enter; nothing runs yet"
	}
	if d.is.Hidden > 0 {
		text += ", with " + wording.Counted(d.is.Hidden, "control or hidden character")
	}
	return text + " (" + d.is.Ask + ")"
}

func (d *approval) natureTersely() string { return d.is.DoesText() + " " + d.is.Ask }

// editable reports whether the person may type something else instead: they see the terminal.
func (d *approval) editable(is host.HeldInput) bool {
	return is.Does != ahp.AskStarts && !d.listed
}

// keys lists the keys that answer.
func (d *approval) keys(offers offer, terse bool) string {
	var list []string
	add := func(key, does, tersely string) {
		if terse {
			does = tersely
		}
		list = append(list, strings.ReplaceAll(key+" "+does, " ", together))
	}
	switch {
	case offers == offersReading && d.pane:
		add("v", "shows all of it", "all")
	case offers == offersReading:
		add("space", "reads on", "more")
	case d.is.Does == ahp.AskStarts:
		add("y", "starts it", "yes")
	default:
		add("y", "types it", "yes")
	}
	add("n", "refuses", "no")
	if offers == offersAll && d.editable(d.is) {
		add("e", "edits it", "edit")
	}
	switch {
	case d.pane && offers == offersAll:
		add("v", "shows it large", "large")
	case d.pane:
	case offers == offersAll && d.is.All:
		add("a", "yes to all until the command ends", "all")
		fallthrough
	default:
		add("Esc", "later", "later")
	}
	text := strings.Join(list, "  ")
	if d.is.Behind > 0 {
		text += fmt.Sprintf("  (%d"+together+"more)", d.is.Behind)
	}
	return text
}

// heldLines returns the lines of what an agent wants to type.
func heldLines(is host.HeldInput) [][]ahp.AskPart {
	if is.Secret {
		return [][]ahp.AskPart{{{Sign: "(a secret)"}}}
	}
	return is.Lines
}

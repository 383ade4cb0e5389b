package viewer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
	"termhost/sshd/wording"
)

// form is the question in the last line of a list, and what was answered so far.
type form struct {
	kind   formKind
	rows   []*Row // that it is about
	text   string // a line, a NAME or a title
	secret bool   // the line answers a question for a secret
	on     bool   // guard, or end that
	except []*Row // get no line, because they ask for a secret
	busy   bool   // the terminal is being given the NAME
	why    string // the NAME before was not given
}

type formKind int

const (
	formNone  formKind = iota
	formEnd            // whether terminals are to be ended
	formGuard          // whether they are to be guarded, or no longer
	formLine           // a line to type
	formName           // another NAME
	formTitle          // a title
)

// prompt is the last line: a notice, the question, or the keys.
func (l *list) prompt() string {
	f, room := l.form, l.fitted
	switch {
	case f.kind == formEnd && len(f.rows) == 1:
		return fmt.Sprintf("End %s and its programs? y ends it, any other key does not.",
			f.rows[0].Shown())
	case f.kind == formEnd:
		return naming("End ", f.rows, " and their programs? y does.",
			room)
	case f.kind == formGuard && f.on:
		return naming("Guard ", f.rows, "? y does.", room)
	case f.kind == formGuard:
		return naming("End the guard of ", f.rows, "? y does.", room)
	case f.kind == formLine:
		return f.linePrompt(room)
	case f.kind == formName:
		return f.namePrompt(room)
	case f.kind == formTitle:
		return typedInto("Title of "+f.rows[0].Shown()+": ", f.text,
			"  (Enter sets it, Esc does not)", room)
	case l.note != "" && time.Since(l.noted) < noticeTime:
		return noticeOf + l.note
	case l.typing:
		return typedInto("Filter: ", l.filter, "  (Enter goes, arrows move, Esc returns)", room)
	case l.filter != "":
		before := "Filter: " + l.filter + "  ("
		return before + keyLine(room-width.String(before)-1, "Enter goes", "s types", "g guards",
			"x ends") + ")"
	}
	if l.o.picks {
		return keyLine(room, "Enter goes", "Esc returns", "s types", "g guards", "x ends",
			"/ filters", "r renames", "o sorts")
	}
	return keyLine(room, "Enter goes", "s types", "g guards", "x ends", "/ filters",
		"space marks", "r renames", "o sorts")
}

// keyLine says what keys do, the most useful ones first, as far as there is room, and how one gets
// to know the others.
func keyLine(room int, keys ...string) string {
	const help = "? helps"
	var line strings.Builder
	for _, key := range keys {
		if line.Len()+len(key)+len(", ")+len(help) > room {
			break
		}
		line.WriteString(key + ", ")
	}
	return line.String() + help
}

// named returns a question about terminals, with as many of their names as there is room for.
func naming(before string, rows []*Row, after string, room int) string {
	if len(rows) == 1 {
		return before + rows[0].Shown() + after
	}
	before += wording.Counted(len(rows), "terminal")
	room -= width.String(before) + width.String(after) + len(" ()")
	if room < len("a, b") {
		return before + after
	}
	return before + " (" + width.Cut(namesOf(rows), room, "…") + ")" + after
}

func namesOf(rows []*Row) string {
	var names []string
	for _, r := range rows {
		names = append(names, r.Shown())
	}
	return strings.Join(names, ", ")
}

// typedInto returns a line in which a text is typed, with the end of the text in view.
func typedInto(before, text, after string, room int) string {
	left := room - width.String(before) - len("_")
	if width.String(text)+width.String(after) <= left {
		return before + text + "_" + after
	}
	for text != "" && width.String(text) > left {
		_, text = cutRune(text)
	}
	return before + text + "_"
}

// cutRune takes the first character of a text away.
func cutRune(text string) (first, rest string) {
	for i := range text {
		if i > 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// linePrompt is the last line while a line is typed. A secret is not shown.
func (f form) linePrompt(room int) string {
	if f.secret {
		return typedInto(f.rows[0].Shown()+" asks for a secret, which this answers: ",
			strings.Repeat("*", len([]rune(f.text))), "  (Esc does not)", room)
	}
	before := naming("Line for ", f.rows, "", room/2)
	if len(f.except) > 0 {
		before += ", not for " + width.Cut(namesOf(f.except), room/4, "…") + ", asking for a secret"
	}
	return typedInto(before+": ", f.text, "  (Enter types it, Esc does not)", room)
}

// namePrompt is the last line while a NAME is typed.
func (f form) namePrompt(room int) string {
	before := "New NAME of " + f.rows[0].Shown() + ": "
	if f.why != "" {
		before = f.why + ". Another NAME: "
	}
	return typedInto(before, f.text, "  (Enter sets it, Esc does not)", room)
}

// fill handles a key at the question.
func (l *list) fill(k keyboard.Key) (then func() verdict) {
	f := l.form
	if f.kind == formEnd || f.kind == formGuard {
		l.form = form{}
		switch {
		case k != keyboard.Key{Code: 'y'}:
			return nil
		case f.kind == formEnd:
			l.leave(f.rows)
			return func() verdict { return l.endAll(f.rows) }
		}
		return func() verdict { return l.guardAll(f.rows, f.on) }
	}
	switch {
	case k.Code == keyboard.Enter && f.kind == formName:
		return l.named(f)
	case k.Code == keyboard.Enter:
		l.form = form{}
		return func() verdict { return l.filled(f) }
	case k.Code == keyboard.Escape, leaves(k):
		l.form = form{}
	default:
		l.form.text = edited(f.text, k)
	}
	return nil
}

// named gives a terminal the NAME that was typed. The question stays open until it has that NAME,
// so that what is typed meanwhile goes nowhere else.
func (l *list) named(f form) (then func() verdict) {
	switch {
	case f.busy:
		return nil
	case !ahp.ValidName(f.text):
		l.form.why = "A NAME has 1 to 64 of a-z, A-Z, 0-9, ., _ and -"
		return nil
	}
	l.form.busy = true
	return func() verdict { return l.rename(f.rows[0], f.text) }
}

// filled does what a text was typed for.
func (l *list) filled(f form) verdict {
	if f.kind == formTitle {
		return l.setTitle(f.rows[0], f.text)
	}
	return l.typeAll(f)
}

// leave makes another row the current one, if it is one of those that are ended.
func (l *list) leave(ended []*Row) {
	ends := map[rowID]bool{}
	for _, r := range ended {
		ends[r.id()] = true
		l.ended[r.id()] = true
	}
	match := l.matching()
	at := l.index(match)
	later, before := match[at:], slices.Clone(match[:at])
	slices.Reverse(before)
	for _, r := range append(slices.Clone(later), before...) {
		if !ends[r.id()] {
			l.current = r.id()
			return
		}
	}
}

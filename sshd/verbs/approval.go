package verbs

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

const (
	// answerDelay is how long what is to be approved is shown before a key answers: nobody reads
	// faster, so it was meant for the program.
	answerDelay = 300 * time.Millisecond
	// typingPause is how long the person must have typed nothing at the program before a key
	// answers: who is typing does not look for a question.
	typingPause = time.Second
	// approvalRows is how many rows of a text are shown at first.
	approvalRows = 20
)

// approval is the dialog in which a person decides about what an agent wants to type.
type approval struct {
	w *viewer
	a *host.Attach

	mu    sync.Mutex // a leaf
	is    host.HeldInput
	since time.Time // when it was drawn first; zero: it was not
	aside bool      // the person wants to decide later
	all   bool      // all of the text is shown, from row top on
	top   int
	page  int // how many rows were drawn last
}

// ask shows what the viewer's person is to decide about, and takes away what is decided.
func (w *viewer) ask() {
	if !w.interactive {
		return
	}
	is, ok := w.a.Asking()
	if d := w.approval; d != nil && (!ok || d.is.Ask != is.Ask || d.a != w.a) {
		if d.a == w.a && d.answers() {
			w.typed.answered()
		}
		w.end(d)
		w.approval = nil
	}
	switch d := w.approval; {
	case !ok:
	case d == nil:
		w.approval = &approval{w: w, a: w.a, is: is}
		w.raise(w.approval)
	case d.news(is):
		w.raise(d) // another dialog was in the way, or more waits behind it
	}
}

// news notes what is known now of the same input, and reports whether it is to be shown.
func (d *approval) news(is host.HeldInput) (shown bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.is = is
	return !d.aside
}

// draw shows the text, each line numbered, so that none of it looks like another one.
func (d *approval) draw(w Window) overlay {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.since.IsZero() {
		d.since = time.Now()
	}
	lines, hidden := visible(d.is.Text)
	rows := numbered(lines, lineRoom(w))
	head := wrap(nil, "termhost: "+d.is.By+" wants to type "+counted(len(lines), "line")+
		d.nature(hidden), lineRoom(w))
	keys := wrap(nil, early, lineRoom(w))
	if wait := d.early(); wait > 0 {
		time.AfterFunc(wait, d.w.repaint) // to say that keys answer
	} else {
		keys = wrap(nil, d.keys(), lineRoom(w))
	}
	d.page = max(w.Rows-len(head)-len(keys)-1, 1)
	if d.all {
		d.top = max(min(d.top, len(rows)-d.page), 0)
		last := min(d.top+d.page, len(rows))
		head = append(head, fmt.Sprintf("rows %d to %d of %d:", d.top+1, last, len(rows)))
		rows = rows[d.top:last]
	} else if most := min(approvalRows, d.page); len(rows) > most {
		more := fmt.Sprintf("... and %s: v shows all", counted(len(rows)-most, "more row"))
		rows = append(rows[:most:most], more)
	}
	return overlay{table: true, lines: slices.Concat(head, rows, keys)}
}

// early is shown as long as keys do not answer.
const early = "what you type still goes to the program; pause to answer"

// early returns how long it takes until keys answer, if the person types nothing; 0: they do. d.mu
// is held.
func (d *approval) early() time.Duration {
	typed := time.Unix(0, d.w.typed.typedAt.Load())
	return max(answerDelay-time.Since(d.since), typingPause-time.Since(typed), 0)
}

// answers reports whether keys answer, as far as the person sees.
func (d *approval) answers() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.since.IsZero() && !d.aside && d.early() == 0
}

// nature says of the text what its lines do not tell, or not clearly.
func (d *approval) nature(hidden int) string {
	var text string
	switch {
	case d.is.Secret:
		return ", which is not shown because a secret is asked for"
	case strings.HasSuffix(d.is.Text, "\r"), strings.HasSuffix(d.is.Text, "\n"):
		text = ", the last with Enter"
	default:
		text = ", without Enter at the end"
	}
	if hidden > 0 {
		text += ", with " + counted(hidden, "control or hidden character")
	}
	return text
}

// counted returns a number with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// keys says which keys answer.
func (d *approval) keys() string {
	text := "y types it  n refuses  e edits it"
	if d.is.Trusts {
		text += "  a yes to all until the command ends"
	}
	if d.all {
		text += "  j/k scroll  v less"
	} else {
		text += "  v all"
	}
	if text += "  Esc later"; d.is.Behind > 0 {
		text += fmt.Sprintf("  (%d more)", d.is.Behind)
	}
	return text
}

// numbered breaks lines into rows of at most room cells, at whatever character. Before the first
// row of each line is its number, and before the others there are blanks, where no text comes.
func numbered(lines []string, room int) (rows []string) {
	digits := len(fmt.Sprint(len(lines)))
	room = max(room-digits-1, 2)
	for i, text := range lines {
		gutter := fmt.Sprintf("%*d ", digits, i+1)
		for {
			row := width.Cut(text, room, "")
			if row == "" {
				row = text
			}
			rows = append(rows, gutter+row)
			if text = text[len(row):]; text == "" {
				break
			}
			gutter = strings.Repeat(" ", digits+1)
		}
	}
	return rows
}

// key answers, unless the person has not seen the question yet. Then, like the interrupt key, it is
// typed at the program.
func (d *approval) key(k keyboard.Key) verdict {
	d.mu.Lock()
	ask, trusts, early := d.is.Ask, d.is.Trusts, d.early() > 0
	d.mu.Unlock()
	switch {
	case early && d.w.typed.late(k):
		return dialogStays
	case early, k == keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}:
		return notMine
	}
	var err error
	said := ""
	switch {
	case k.Mods != 0 && k.Mods != keyboard.Shift:
		return dialogStays
	case k.Code == 'y':
		err = d.a.Decide(ask, host.ApproveOnce)
	case k.Code == 'n':
		err = d.a.Decide(ask, host.RefuseOnce)
	case k.Code == 'a' && trusts:
		err = d.a.Decide(ask, host.ApproveAll)
	case k.Code == 'e':
		said = "you have the keyboard; Enter runs the line"
		err = d.a.Edit(ask, typeable)
	case k.Code == keyboard.Escape:
		d.later(true)
		said = "it is still held; " + d.w.v.key('n') + " shows it again"
	default:
		d.scroll(k)
		return dialogStays
	}
	if err != nil {
		said = d.w.v.explain(err)
	}
	if k.Code != 'e' || err != nil { // what comes next is not typed at the line
		d.w.typed.answered()
	}
	if said != "" {
		d.w.typed.show(notice("%s", said))
	}
	return dialogEnds
}

// lateAnswer is how long after a question is gone its answers are still dropped: they were pressed
// before the person could see that somebody else had answered, or were pressed twice. At the
// program they would be typed, and could take the keyboard.
const lateAnswer = time.Second / 2

// answered notes that a question that keys answered has gone.
func (l *inputLoop) answered() { l.answeredAt.Store(time.Now().UnixNano()) }

// late reports whether k answers a question that has just gone.
func (l *inputLoop) late(k keyboard.Key) bool {
	answer := k.Mods&^keyboard.Shift == 0 && (strings.ContainsRune("ynea", k.Code) ||
		k.Code == keyboard.Escape)
	return answer && time.Since(time.Unix(0, l.answeredAt.Load())) < lateAnswer
}

// later puts the dialog aside until something else is asked, or takes it back.
func (d *approval) later(aside bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aside = aside
}

// scroll moves through the text.
func (d *approval) scroll(k keyboard.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch k.Code {
	case 'v':
		d.all, d.top = !d.all, 0
	case 'j', keyboard.Down:
		d.top++
	case 'k', keyboard.Up:
		d.top--
	case ' ', keyboard.PageDown:
		d.top += d.page
	case 'b', keyboard.PageUp:
		d.top -= d.page
	}
	d.top = max(d.top, 0)
}

// approvalNote says what became of what an agent wanted to type.
func approvalNote(n host.Note) overlay {
	who, agent := host.Printable(n.Who), host.Printable(n.Agent)
	switch n.Kind {
	case host.NoteApproved:
		return notice("%s let %s type", who, agent)
	case host.NoteRefused:
		return notice("%s refused what %s wanted to type", who, agent)
	case host.NoteEdited:
		return notice("%s edits what %s wanted to type", who, agent)
	}
	return notice("%s asks no more: %s", agent, host.Printable(n.Why))
}

// guard turns the terminal's guard on or off.
func (l *inputLoop) guard() {
	on := !l.w.t.Guarded()
	if err := l.w.v.Conn.SetGuard(l.w.t, on); err != nil {
		l.show(notice("%s", l.w.v.explain(err)))
		return
	}
	l.show(notice("%s", guardText(l.w.t, on)))
}

// guardText says what the guard of a terminal does.
func guardText(t *host.Terminal, on bool) string {
	if on {
		return t.Name() + " is guarded: what agents type waits for your yes"
	}
	return t.Name() + " is not guarded: agents type without asking"
}

package viewer

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/sshd/wording"
)

// each does something to rows, on a goroutine, and says what came of it: done, or the first error.
func (l *list) each(doing string, rows []*Row, one func(*Row) error, done string) verdict {
	l.s.Go(doing, func() {
		var first error
		failed := 0
		for _, r := range rows {
			if err := one(r); err != nil {
				failed++
				if first == nil {
					first = fmt.Errorf("%s: %s", r.Shown(), l.s.explain(err))
				}
			}
		}
		l.mu.Lock()
		switch {
		case failed > 1:
			l.sayLocked("%v (and %d more)", first, failed-1)
		case failed == 1:
			l.sayLocked("%v", first)
		case done != "":
			l.sayLocked("%s", done)
		}
		l.mu.Unlock()
		l.seesAnew()
	})
	return dialogStays
}

// seesAnew lists the terminals again at once.
func (l *list) seesAnew() {
	l.mu.Lock()
	l.listed, l.seen = time.Time{}, time.Time{}
	l.mu.Unlock()
	l.news()
}

// errHere is for what only the terminal's own host can do.
var errHere = errors.New("only its own host can do that")

// endAll ends terminals.
func (l *list) endAll(rows []*Row) verdict {
	done := "ended " + rows[0].Shown()
	if len(rows) > 1 {
		done = "ended " + wording.Counted(len(rows), "terminal")
	}
	return l.each("ending terminals", rows, func(r *Row) error {
		if r.Elsewhere {
			_, err := l.s.Others.Do(l.ctx, r, "rm", r.URI)
			return err
		}
		t, err := l.find(r)
		if err != nil {
			return err
		}
		return l.s.Conn.Dispose(t)
	}, done)
}

// guard guards terminals, or ends that if all are guarded. It asks first about several, and before
// agents may type.
func (l *list) guard(rows []*Row) (then func() verdict) {
	on := false
	for _, r := range rows {
		on = on || !r.Guarded
	}
	if len(rows) > 1 || !on {
		l.form = form{kind: formGuard, rows: rows, on: on}
		return nil
	}
	return func() verdict { return l.guardAll(rows, on) }
}

func (l *list) guardAll(rows []*Row, on bool) verdict {
	done, several := GuardText(rows[0].Shown(), on), wording.Counted(len(rows), "terminal")
	if len(rows) > 1 && on {
		done = "what agents type in " + several + " waits for your yes"
	} else if len(rows) > 1 {
		done = "agents type in " + several + " without asking"
	}
	return l.each("guarding terminals", rows, func(r *Row) error {
		if r.Elsewhere {
			state := "off"
			if on {
				state = "on"
			}
			_, err := l.s.Others.Do(l.ctx, r, "guard", r.URI, state)
			return err
		}
		t, err := l.find(r)
		if err != nil {
			return err
		}
		return l.s.Conn.SetGuard(t, on)
	}, done)
}

// line begins a line to type. Those of several terminals that ask for a secret get none.
func (l *list) line(rows []*Row) (then func() verdict) {
	f := form{kind: formLine}
	for _, r := range rows {
		if l.asksSecret(r) {
			f.except = append(f.except, r)
		} else {
			f.rows = append(f.rows, r)
		}
	}
	if len(rows) == 1 && len(f.except) == 1 {
		f.rows, f.except, f.secret = rows, nil, true
	}
	if len(f.rows) == 0 {
		l.sayLocked("all of them ask for a secret: answer one at a time")
		return nil
	}
	l.form = f
	return nil
}

// asksSecret reports whether a row's program asks for a secret.
func (l *list) asksSecret(r *Row) bool {
	if r.Elsewhere {
		return r.Waiting == host.WaitingSecret
	}
	t, err := l.find(r)
	return err == nil && l.s.Conn.AsksSecret(t)
}

// typeAll types a line, but not where a program asks for a secret and the person was not told.
func (l *list) typeAll(f form) verdict {
	done := "typed into " + f.rows[0].Shown()
	if len(f.rows) > 1 {
		done = "typed into " + wording.Counted(len(f.rows), "terminal")
	}
	return l.each("typing a line", f.rows, func(r *Row) error {
		if r.Elsewhere {
			return l.typeElsewhere(r, f)
		}
		t, err := l.find(r)
		if err != nil {
			return err
		}
		return l.s.Conn.SendLine(l.ctx, t, f.text, f.secret)
	}, done)
}

// typeElsewhere types a line on another host, which is asked first whether it would be a secret.
func (l *list) typeElsewhere(r *Row, f form) error {
	now, err := l.s.Others.Now(l.ctx, r)
	switch secret := now.Waiting == host.WaitingSecret; {
	case err != nil:
		return err
	case secret && !f.secret:
		return host.ErrAsksSecret
	case f.secret && !secret:
		return host.ErrNoSecret
	}
	_, err = l.s.Others.Do(l.ctx, r, "send", "--enter", r.URI, "--", f.text)
	return err
}

// rename gives a terminal another NAME, on a goroutine, and closes the question for it. If another
// NAME might do, the question stays open and says why.
func (l *list) rename(r *Row, name string) verdict {
	l.s.Go("renaming a terminal", func() {
		err := l.giveName(r, name)
		l.mu.Lock()
		open := l.form.kind == formName && l.form.busy && l.form.rows[0] == r
		var denied *authz.Denied
		switch {
		case err == nil:
			l.sayLocked("%s is now called %s", r.Shown(), name)
		case open && !errors.As(err, &denied):
			why, _, _ := strings.Cut(l.s.explain(err), ";")
			l.form.busy, l.form.why, open = false, why, false
		default:
			l.sayLocked("%s: %s", r.Shown(), l.s.explain(err))
		}
		if open {
			l.form = form{}
		}
		l.mu.Unlock()
		l.seesAnew()
	})
	return dialogStays
}

func (l *list) giveName(r *Row, name string) error {
	if r.Elsewhere {
		_, err := l.s.Others.Do(l.ctx, r, "rename", r.URI, name)
		return err
	}
	t, err := l.find(r)
	if err != nil {
		return err
	}
	_, err = l.s.Conn.GiveName(t, name)
	return err
}

// setTitle gives a terminal of this host a title.
func (l *list) setTitle(r *Row, title string) verdict {
	return l.each("setting a title", []*Row{r}, func(r *Row) error {
		t, err := l.find(r)
		if err != nil {
			return err
		}
		return l.s.Conn.Rename(t, title)
	}, "")
}

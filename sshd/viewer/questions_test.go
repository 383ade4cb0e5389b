package viewer

import "testing"

func TestWhatWasAskedForIsKnownByItsForm(t *testing.T) {
	answers := []string{answer10, answer11, answer12, "\x1b]11;#112233\a", "\x1b[?62;22;52c", "\x1b[?1016;2$y", "\x1b[?2027;2$y",
		"\x1b]99;i=termhost:p=?;a=focus,report:p=title,body\x1b\\", "\x1bP>|kitty(0.36.4)\x1b\\"}
	others := []string{"\x1b]11;rgb:1212/x", "\x1b]11;rgb:0/0/0\x1b[", "\x1b]4;1;", "\x1b[?6y",
		"\x1b[A", "\x1bP0", "\x1bP>|a\r", "\x1b]99;i=other", "\x1b\x1b", "\x1b[?1c1", "a"}
	var s Session
	q := s.questions()
	for _, a := range answers {
		if q.asked([]byte(a)) {
			t.Errorf("nobody has asked for %q", a)
		}
	}
	q.ask()
	for _, a := range answers {
		for i := 1; i <= len(a); i++ {
			if !s.questions().asked([]byte(a[:i])) {
				t.Errorf("%q, of %q, is no answer", a[:i], a)
			}
		}
	}
	for _, o := range others {
		if q.asked([]byte(o)) {
			t.Errorf("%q is taken for an answer", o)
		}
	}
	// A viewer that comes after another asks again, before the first answers have come.
	q.ask()
	for n, open := range []bool{true, false, false} {
		q.answered([]byte(answer10))
		q.answered([]byte("\x1b[?62;22;52c"))
		if q.asked([]byte("\x1b]1")) != open {
			t.Errorf("after %d answers to DA1 others are expected: %v", n+1, !open)
		}
		done, _ := q.pending()
		select {
		case <-done:
			if open {
				t.Error("nothing more is waited for")
			}
		default:
			if !open {
				t.Error("more is waited for")
			}
		}
	}
}

// The theme is reported at any time. Escape, alone or with [, is a key then.
func TestAReportOfTheThemeIsKnownByItsForm(t *testing.T) {
	var s Session
	q := s.questions()
	for _, on := range []bool{true, false} {
		q.setReports(on)
		for _, report := range lightOrDark {
			for i := 1; i <= len(report); i++ {
				if got, want := q.asked([]byte(report[:i])), on && i > 2; got != want {
					t.Errorf("reports %v: %q is expected: %v", on, report[:i], got)
				}
			}
		}
		for _, other := range []string{"\x1b[?1", "\x1b[?997;1c", "\x1b[A", "\x1b]1"} {
			if q.asked([]byte(other)) {
				t.Errorf("%q is taken for a report", other)
			}
		}
	}
}

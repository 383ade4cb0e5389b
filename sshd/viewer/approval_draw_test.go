package viewer

import "testing"

// A notice is not drawn where the question needs its room, and neither covers the other.
func TestAQuestionComesBeforeNotices(t *testing.T) {
	both, alone := 0, 0
	for cols := 1; cols <= 100; cols += 1 + cols/8 {
		for rows := 1; rows <= 24; rows++ {
			d := newAsked(t, "make deploy HOST=production; touch F\r")
			w := &viewer{draws: true, canvas: canvas{window: Window{Cols: cols, Rows: rows}},
				overlay: notice("ann/a1 has the keyboard; your first key takes it")}
			d.size = w.window
			o, above, below := w.drawDialog(d.approval)
			offers, shown := d.next.offers, len(o.fitted(above))
			switch n := len(below.fitted(w.window)); {
			case shown == 0:
				t.Errorf("%v: nothing of the question is drawn", d.size)
			case n > 0 && (shown+n > rows || above.Rows+n > rows):
				t.Errorf("%v: %d rows of a question and %d of a notice", d.size, shown, n)
			case n > 0:
				both++
			default:
				alone++
			}
			if d.draw(d.size, d.size); (d.next.offers == offersNothing) != (offers == offersNothing) {
				t.Errorf("%v: a notice has made the window too small", d.size)
			}
			w.overlay = w.overlay.untilKey() // what the person has asked for
			if _, _, below := w.drawDialog(d.approval); below.lines == nil {
				t.Errorf("%v: the help is not drawn", d.size)
			}
		}
	}
	if both == 0 || alone == 0 {
		t.Errorf("%d windows show both, %d the question alone", both, alone)
	}
}

func TestAWindowThatIsTooSmallSaysSoInWordsThatFit(t *testing.T) {
	for w, want := range map[Window]string{{Cols: 14, Rows: 3}: "window too small: enlarge it", {Cols: 9, Rows: 2}: "too small",
		{Cols: 4, Rows: 1}: "ask", {Cols: 3, Rows: 1}: "?", {Cols: 2, Rows: 1}: "?", {Cols: 60, Rows: 1}: tooSmall[0]} {
		got := ""
		for _, line := range saidTooSmall(w) {
			got += " " + line
		}
		if got != " "+want {
			t.Errorf("%v: %q, want %q", w, got, want)
		}
	}
}

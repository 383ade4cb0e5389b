package predict_test

import (
	"strings"
	"testing"
	"time"

	"termhost/cmd/termhost/local/predict"
)

func TestWhatIsTypedIsShownAtOnceAndUnderlined(t *testing.T) {
	w := prompted(t)
	w.types("b")
	w.shows(0, "$ a_b_")
	w.cursor(4, 0)
	w.types(" ü")
	w.shows(0, "$ a_b ü_")
	w.answers("b")
	w.shows(0, "$ ab_ ü_")
	w.prints(" ü")
	w.shows(0, "$ ab ü")
	w.cursor(6, 0)
	w.passes(time.Second)
	w.same("all was echoed")
}

func TestNothingIsShownBeforeACharacterWasEchoed(t *testing.T) {
	w := newWorld(t, predict.Adaptive, trip)
	w.prints("$ ")
	w.types("ab")
	w.shows(0, "$ ")
	w.answers("a")
	w.shows(0, "$ a_b_")
	w.types("\r")
	w.answers("b\r\n$ ")
	w.types("c")
	w.shows(1, "$ ")
	w.passes(settled)
	w.types("d") // c is on the way, and may have been echoed by now, or not
	w.shows(1, "$ ")
	w.answers("cd")
	w.types("e")
	w.shows(1, "$ cd_e_")
}

func TestBackspaceUndoesWhatWasTyped(t *testing.T) {
	w := prompted(t)
	w.types("bc")
	w.types("\x7f")
	w.shows(0, "$ a_b_")
	w.cursor(4, 0)
	w.types("\x7f")
	w.shows(0, "$ a")
	w.types("\x7f") // what the host shows already
	w.shows(0, "$ ")
	w.cursor(2, 0)
	w.types("d")
	w.shows(0, "$ _d_")
	w.types("\x7f\x7f") // the prompt is not the person's
	w.shows(0, "$ ")
	w.cursor(2, 0)
	w.answers("bc\b \b\b \b\b \bd\b \b\a")
	w.passes(time.Second)
	w.same("all was answered")
}

func TestAWrongPredictionIsTakenAway(t *testing.T) {
	w := prompted(t)
	w.types("jk")
	w.shows(0, "$ a_jk_")
	w.passes(trip)
	w.acks()
	w.shows(0, "$ a_jk_")
	w.passes(settled)
	w.same("neither was echoed")
	w.types("l")
	w.shows(0, "$ a")
}

func TestAnEchoElsewhereIsRepaired(t *testing.T) {
	w := prompted(t)
	w.types("x")
	w.answers("\r\x1b[K$ A")
	w.passes(settled)
	w.same("the line was drawn again")
}

func TestAProgramThatBeginsToHideKeysEndsARun(t *testing.T) {
	w := prompted(t)
	w.types("b")
	w.answers("*")
	w.passes(settled)
	w.types("c")
	w.shows(0, "$ a*")
}

func TestAPredictionGoesWithWhatIsDrawnOverIt(t *testing.T) {
	w := prompted(t)
	w.types("b")
	w.passes(trip)
	w.prints("\x1b[H\x1b[2J> ")
	w.same("the screen was cleared")
}

func TestAPasswordIsNeverShown(t *testing.T) {
	for _, told := range []bool{false, true} {
		w := prompted(t)
		w.types("\r")
		w.hidden = told
		w.answers("\r\nPassword: ")
		for _, key := range "*secret*" {
			w.types(string(key))
			w.shows(1, "Password: ")
			w.passes(trip / 4)
		}
		w.passes(trip)
		w.acks()
		w.passes(time.Second)
		w.same("nothing was echoed")
	}
}

func TestStarsForAPasswordShowNoneOfIt(t *testing.T) {
	w := newWorld(t, predict.Adaptive, trip)
	w.prints("Password: ")
	for i, key := range "*a*b*" {
		w.types(string(key))
		w.shows(0, "Password: "+strings.Repeat("*", i))
		w.answers("*")
		w.passes(settled)
	}
}

func TestInputThatBecomesHiddenIsTakenAway(t *testing.T) {
	w := prompted(t)
	w.types("b")
	w.shows(0, "$ a_b_")
	w.hidden = true
	w.acksTo(w.sent - 1)
	w.same("it is hidden")
	w.types("c")
	w.same("it is hidden")
}

func TestAPromptInThePlaceOfWhatWasTypedBeginsAnew(t *testing.T) {
	w := prompted(t)
	w.prints("\r\x1b[Kp: ") // as long as "$ a"
	w.types("s")
	w.shows(0, "p: ")
}

func TestKeysThatMayDoAnythingEndARun(t *testing.T) {
	for _, key := range []string{"\x1b", "\t", "\x1b[D", "\x01", "\x1c", "\u6f22"} {
		w := prompted(t)
		w.types(key)
		w.types("b")
		w.shows(0, "$ a")
		w.answers("")
		w.passes(settled)
		w.types("c")
		w.shows(0, "$ a")
	}
}

func TestReportsOfTheTerminalEndNoRun(t *testing.T) {
	w := prompted(t)
	w.types("\x1b[O")
	w.types("b")
	w.shows(0, "$ a_b_")
}

func TestWhatIsPastedIsNotPredicted(t *testing.T) {
	for _, paste := range []string{"\x1b[200~bcd\x1b[201~", strings.Repeat("b", 17)} {
		w := prompted(t)
		w.types(paste)
		w.same("it was pasted")
	}
	w := prompted(t)
	w.types("\x1b[200~b")
	w.answers("b")
	w.passes(settled)
	w.types("c")
	w.types("\x1b[201~")
	w.answers("c")
	w.same("in pieces")
}

func TestNothingIsShownWhereItCouldBeWrong(t *testing.T) {
	for what, out := range map[string]string{
		"over text":           "b\b",
		"close before text":   " b\b\b",
		"in the last column":  "\x1b[1;39H!",
		"in a frame":          "\x1b[?2026h",
		"without a cursor":    "\x1b[?25l",
		"in another row":      "\r\n",
		"on the other screen": "\x1b[?1049h",
	} {
		w := prompted(t)
		w.prints(out)
		drawn := w.drawn
		w.types("x")
		if w.drawn != drawn {
			t.Errorf("%s: something is drawn", what)
		}
	}
}

func TestALineIsPredictedUpToTheLastColumn(t *testing.T) {
	w := prompted(t)
	for range 6 {
		w.types(strings.Repeat("b", 8))
	}
	w.shows(0, "$ a_"+strings.Repeat("b", cols-4)+"_")
	w.answers(strings.Repeat("b", 48))
	w.passes(settled)
	w.same("it has wrapped")
}

func TestAFullScreenProgramIsPredictedOnceItEchoes(t *testing.T) {
	w := prompted(t)
	w.types("\r")
	w.answers("\x1b[?1049h\x1b[2J\x1b[44m\x1b[H~\x1b[6;30H1,1\x1b[2;1H")
	w.passes(settled)
	for _, key := range "ix" { // the first is a command
		w.types(string(key))
		w.shows(1, "")
		w.answers(strings.TrimPrefix(string(key), "i"))
		w.prints("\x1b[6;30H1,2\x1b[2;2H")
		w.passes(settled)
		if key == 'i' {
			w.prints("\x1b[2;1H")
		}
	}
	w.types("y")
	lines := strings.Split(string(w.terminal.AppendText(nil, false)), "\n")
	if lines[1] != "xy" {
		t.Errorf("it shows %q", lines)
	}
	w.prints("\x1b[?1049l")
	w.same("it has ended")
}

func TestOutputPassesUnchangedWhileRoundTripsAreShort(t *testing.T) {
	w := newWorld(t, predict.Adaptive, 20*time.Millisecond)
	w.prints("$ ")
	for range 5 {
		w.types("a")
		w.passes(20 * time.Millisecond)
		w.prints("a")
		w.acks()
	}
	w.types("b")
	if w.drawn != 0 {
		t.Errorf("%d bytes are drawn", w.drawn)
	}
	// One that takes long is a machine that is busy; three are a slow line.
	for i := range 3 {
		w.passes(trip)
		w.prints("b")
		w.acks()
		w.types("b")
		if shown := w.drawn > 0; shown != (i == 2) {
			t.Errorf("after %d: shown %v", i, shown)
		}
	}
	// One that is short is no slow line.
	w.passes(20 * time.Millisecond)
	w.prints("b")
	w.acks()
	w.types("b")
	w.same("it has become fast")
}

func TestAlwaysIsAlsoWhileRoundTripsAreShort(t *testing.T) {
	w := newWorld(t, predict.Always, time.Millisecond)
	w.prints("$ ")
	w.types("a")
	w.passes(time.Millisecond)
	w.prints("a")
	w.acks()
	w.types("b")
	w.shows(0, "$ a_b_")
}

func TestWithoutAnAnswerPredictionsAreTakenAway(t *testing.T) {
	w := prompted(t)
	w.types("b")
	w.passes(900 * time.Millisecond)
	w.shows(0, "$ a_b_")
	w.passes(100 * time.Millisecond)
	w.same("the host is silent")
	w.types("c")
	w.same("it still is")
	w.answers("bc")
	w.passes(settled)
	w.types("d")
	w.answers("d")
	w.types("e")
	w.shows(0, "$ abcd_e_")
}

func TestTheEndOfTheConnectionTakesPredictionsAway(t *testing.T) {
	w := prompted(t)
	w.types("b")
	w.draws(w.p.Clear(nil))
	w.same("it has ended")
	w.types("c")
	w.same("it has ended")
}

func TestAfterAResizeTheHostDrawsFirst(t *testing.T) {
	w := prompted(t)
	w.types("b")
	w.p.Resize(cols-4, rows)
	w.terminal.Resize(cols-4, rows)
	w.host.Resize(cols-4, rows)
	drawn := w.drawn
	w.types("c")
	w.answers("bc")
	w.passes(settled)
	w.types("d")
	w.answers("d")
	w.types("e")
	if w.drawn != drawn {
		t.Error("it predicts on a screen that is not known")
	}
	drawing := string(w.host.AppendRedraw(nil, vtUpdate))
	w.prints(drawing[:3])
	w.prints(drawing[3:])
	w.answers("e")
	w.types("f")
	w.answers("f")
	w.types("g")
	w.shows(0, "$ abcdef_g_")
}

func TestAFloodOfOutputAndOfKeys(t *testing.T) {
	w := prompted(t)
	for range 300 {
		w.types("y")
		w.prints("a line\r\n")
	}
	w.same("it floods")
	w.passes(trip)
	w.acks()
	w.passes(time.Second)
	w.prints("$ ")
	w.types("a")
	w.answers("a")
	w.types("b")
	w.shows(rows-1, "$ a_b_")
}

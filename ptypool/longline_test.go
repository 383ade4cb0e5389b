package ptypool

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lengths prints the length of each line that it reads.
const lengths = `stty -echo; echo ready; while IFS= read -r l; do echo "<${#l}>"; done`

func TestALineThatTheTerminalWouldCutIsRefusedWhole(t *testing.T) {
	for _, c := range []struct {
		name     string
		accepted []string
		refused  string
	}{
		{"at once", nil, strings.Repeat("x", 4096) + "\n"},
		{"without an end", nil, strings.Repeat("x", 4096)},
		{"in pieces", []string{strings.Repeat("x", 4000)}, strings.Repeat("y", 96)},
		{"behind others", nil, "a\nb\n" + strings.Repeat("x", 5000) + "\nc\n"},
		{"behind one that was erased in part", []string{"xxx\x7f" + strings.Repeat("x", 4092)}, "yy"},
		{"with quoted ends", nil, strings.Repeat("x\x16\r", 2048)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			term, r := sh(t, newPool(t, Config{}), lengths)
			r.text(t, "ready")
			for _, piece := range c.accepted {
				if err := term.Input([]byte(piece)); err != nil {
					t.Fatal(err)
				}
			}
			if err := term.Input([]byte(c.refused)); !errors.Is(err, ErrLineTooLong) {
				t.Fatalf("got %v", err)
			}
			if err := term.Whole([]byte(c.refused)); !errors.Is(err, ErrLineTooLong) {
				t.Errorf("asked before: %v", err)
			}
			// What was typed before stands, and can be erased.
			if err := term.Input([]byte("\x15short\n")); err != nil {
				t.Fatal(err)
			}
			r.text(t, "<")
			term.Hangup(0)
			r.exit(t, term)
			if got := r.output(); !strings.HasSuffix(got, "ready\r\n<5>\r\n") {
				t.Errorf("it has read %q", got)
			}
		})
	}
}

func TestTheLongestLineArrivesWhole(t *testing.T) {
	term, r := sh(t, newPool(t, Config{}), lengths)
	r.text(t, "ready")
	if err := term.Input([]byte(strings.Repeat("x", maxLine) + "\n")); err != nil {
		t.Fatal(err)
	}
	r.text(t, "<4095>")
	term.Hangup(0)
	r.exit(t, term)
}

func TestWhereTheEighthBitIsStrippedLinesEndWithoutIt(t *testing.T) {
	term, r := sh(t, newPool(t, Config{}), "stty istrip; "+lengths)
	r.text(t, "ready")
	typed := strings.Repeat("x", 4000) + "\x8d" + strings.Repeat("y", 200) + "\n"
	if err := term.Input([]byte(typed)); err != nil {
		t.Fatal(err)
	}
	r.text(t, "<4000>\r\n<200>")
	term.Hangup(0)
	r.exit(t, term)
}

func TestAProgramThatEditsLinesItselfGetsAnyLength(t *testing.T) {
	term, r := sh(t, newPool(t, Config{}), `stty raw -echo; echo ready; head -c 20000 | wc -c`)
	r.text(t, "ready")
	for range 4 {
		if err := term.Input([]byte(strings.Repeat("x", 5000))); err != nil {
			t.Fatal(err)
		}
	}
	r.text(t, "20000")
	r.exit(t, term)
}

// edited returns the lines that a terminal makes of typed characters.
func edited(typed []byte) (lines []byte) {
	var line []byte
	quoted := false
	for _, c := range typed {
		switch {
		case quoted:
			line, quoted = append(line, c), false
		case c == '\r' || c == '\n':
			lines = append(append(lines, line...), '\n')
			line = nil
		case c == 0x7f:
			line = line[:max(0, len(line)-1)]
		case c == 0x15:
			line = nil
		case c == 0x16:
			quoted = true
		default:
			line = append(line, c)
		}
	}
	return lines
}

func TestWhatIsAcceptedArrivesWholeHoweverItIsEdited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "read")
	term, r := sh(t, newPool(t, Config{}), "stty -echo; echo ready; cat >"+file)
	r.text(t, "ready")
	random := rand.New(rand.NewPCG(1, 2))
	var typed []byte
	ends := []string{"", "", "", "", "\x7f\x7f", "\x16\x16y", "\r", "\n", "\x15"}
	refused := 0
	for range 400 {
		var piece []byte
		for range 1 + random.IntN(4) {
			piece = append(piece, bytes.Repeat([]byte{'x'}, random.IntN(1500))...)
			piece = append(piece, ends[random.IntN(len(ends))]...)
		}
		switch err := term.Input(piece); {
		case err == nil:
			typed = append(typed, piece...)
		case errors.Is(err, ErrLineTooLong):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if err := term.Input([]byte("\x15\x04")); err != nil {
		t.Fatal(err)
	}
	r.exit(t, term)
	got, err := os.ReadFile(file)
	if want := edited(typed); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes have arrived, want %d: %v", len(got), len(want), err)
	}
	t.Logf("%d of 400 pieces were refused", refused)
}

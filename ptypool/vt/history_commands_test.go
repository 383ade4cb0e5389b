package vt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A command is found at its lines, whether these are on the screen, in the scrollback or wrapped.
func TestCommandsAreFoundInTheHistory(t *testing.T) {
	t.Parallel()
	const began, ended = "\x1b]133;C\a", "\x1b]133;D;0\a"
	long := strings.Repeat("y", 95)
	text := "welcome\r\n" +
		"$ one\r\n" + began + "1\r\n2\r\n" + ended +
		"$ none\r\n" + began + ended +
		"$ " + long + "\r\n" + began + long + "\r\nz\r\n" + ended +
		"$ behind" + began + "\r\nout\r\n" + ended +
		"$ runs\r\n" + began + "so far\r\n"
	want := []CommandLines{{1, 2, 4}, {4, 5, 5}, {5, 6, 8}, {8, 9, 10}, {10, 11, 0}}
	for _, size := range [][2]int{{20, 4}, {20, 40}, {200, 2}, {7, 3}} {
		s := New(size[0], size[1], Options{ScrollbackLines: 1000})
		s.Feed([]byte(text), nil)
		got := s.HistoryCommands(nil)
		if len(got) > 0 && got[len(got)-1].To <= 11 {
			t.Errorf("%v: the output of the command that runs ends at %d", size, got[len(got)-1].To)
		}
		if len(got) > 0 {
			got[len(got)-1].To = 0
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v of\n%s", size, got, want, s.AppendHistoryText(nil))
		}
	}
}

// What clear(1) erases is no place of a command any more, and the output of the command that erases
// begins there.
func TestErasedCommandsAreNotFoundInWhatIsPrintedThere(t *testing.T) {
	t.Parallel()
	const began, ended = "\x1b]133;C\a", "\x1b]133;D;0\a"
	lines := strings.Repeat("x\r\n", 30)
	for erase, at := range map[string]int{
		"\x1b[H\x1b[2J\x1b[3J": 0, "\x1b[H\x1b[2J": 0, "\x1b[2J\x1b[H": 0, "\x1b[H\x1b[J": 0,
	} {
		for name, c := range map[string]struct {
			text string
			want []CommandLines
		}{
			"at the prompt": {"$ clear\r\n" + began + erase + ended + "$ x\r\n" + began + lines + ended,
				[]CommandLines{{at, at + 1, at + 31}}},
			"before other output": {"$ clear; x\r\n" + began + erase + lines + ended,
				[]CommandLines{{at, at, at + 30}}},
		} {
			s := New(20, 12, Options{ScrollbackLines: 1000})
			s.Feed([]byte("$ one\r\n"+began+"1\r\n"+ended+"$ two\r\n"+began+ended), nil)
			s.Feed([]byte(c.text+"$ "), nil)
			if got := s.HistoryCommands(nil); !slices.Equal(got, c.want) {
				t.Errorf("%s, %q: got %v, want %v", name, erase, got, c.want)
			}
		}
	}
}

// Whoever has enough of a long scrollback gets what was found so far.
func TestLookingForCommandsEnds(t *testing.T) {
	t.Parallel()
	s := New(20, 4, Options{ScrollbackLines: 10 * rowsBetween})
	for i := range 5 * rowsBetween {
		s.Feed(fmt.Appendf(nil, "$ %d\r\n\x1b]133;C\a\x1b]133;D\a", i), nil)
	}
	if n := len(s.HistoryCommands(func() bool { return false })); n == 0 || n > 2*rowsBetween {
		t.Errorf("%d commands", n)
	}
}

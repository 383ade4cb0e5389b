package ahp_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"termhost/ahp"
)

// output decodes terminal/output; data is the inside of a JSON string.
func output(t *testing.T, data string) ahp.TerminalOutput {
	t.Helper()
	a, err := ahp.DecodeAction(json.RawMessage(`{"type":"terminal/output","data":"` + data + `"}`))
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return a.(ahp.TerminalOutput)
}

func TestSurrogatesAreJoined(t *testing.T) {
	for _, c := range []struct {
		name    string
		outputs []string
		want    string
	}{
		{"whole", []string{`a\ud83d\ude00b`}, "a\U0001f600b"},
		{"cut", []string{`a\ud83d`, `\ude00b`}, "a\U0001f600b"},
		{"capitals", []string{`a\uD83D`, `\uDE00b`}, "a\U0001f600b"},
		{"one unit each", []string{`a`, `\ud83d`, `\ude00`, `b`}, "a\U0001f600b"},
		{"with nothing between", []string{`\ud83d`, ``, `\ude00`}, "\U0001f600"},
		{"at both ends", []string{`\ud83d`, `\ude00x\ud83d`, `\ude01`}, "\U0001f600x\U0001f601"},
		{"no second half", []string{`a\ud83d`, `b`}, "a\ufffdb"},
		{"two first halves", []string{`\ud83d`, `\ud83d`, `\ude00`}, "\ufffd\U0001f600"},
		{"no first half", []string{`a`, `\ude00b`}, "a\ufffdb"},
		{"the second half first", []string{`\ude00`, `\ud83d`, ``}, "\ufffd\ufffd"},
		{"an escaped backslash is no escape", []string{`a\\ud83d`, `\ude00`}, `a\ud83d` + "\ufffd"},
		{"one behind an escaped backslash is", []string{`a\\\ud83d`, `\ude00`},
			`a\` + "\U0001f600"},
		{"a control character is no surrogate", []string{`\u001b`, `\u005b`}, "\x1b["},
	} {
		var got []byte
		var high rune
		for _, data := range c.outputs {
			o := output(t, data)
			if !utf8.Valid(o.Data) {
				t.Errorf("%s: the data %q is not UTF-8", c.name, o.Data)
			}
			var p []byte
			p, high = o.Surrogates.Join(high, o.Data)
			got = append(got, p...)
		}
		if high != 0 {
			got = utf8.AppendRune(got, utf8.RuneError)
		}
		if string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The echo must be the same as what was sent, so that its sender joins the same
// characters.
func TestLoneSurrogatesAreEchoed(t *testing.T) {
	for _, data := range []string{`\ude00a\ud83d`, `\ud83d`, `\ude00`, `a😀`, ``} {
		want := `{"type":"terminal/output","data":"` + data + `"}`
		if got := string(ahp.AppendAction(nil, output(t, data), ahp.ShapeLifecycle)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestALoneSurrogateIsAReplacementCharacterInAMirror(t *testing.T) {
	var st ahp.TerminalState
	st.Apply(output(t, ``))
	if len(st.Content) != 0 {
		t.Error("output without data has made a part")
	}
	o := output(t, `\ude00a\ud83d`)
	st.Apply(o)
	if got := st.Content[0].Text.String(); got != "\ufffda\ufffd" || string(o.Data) != "a" {
		t.Errorf("%q", got)
	}
}

package ahp_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"termhost/ahp"
)

// checkOutput fails unless output is encoded as package jsontext does, in buffers with and without
// room, and decodes to what package jsontext makes of it.
func checkOutput(t *testing.T, p []byte) {
	t.Helper()
	want, _ := jsontext.AppendQuote([]byte(`{"type":"terminal/data","data":`), p)
	want = append(want, '}')
	for _, room := range []int{0, len(want), 8 * len(want)} {
		a := ahp.TerminalData{Data: p}
		got := ahp.AppendAction(make([]byte, 0, room), a, ahp.ShapeLifecycle)
		if !bytes.Equal(got, want) {
			t.Fatalf("%q with room for %d bytes: %s, want %s", p, room, got, want)
		}
	}
	if got := ahp.NewText(p).AppendJSON(nil); !bytes.Contains(want, got) {
		t.Fatalf("%q as a text: %s, want the string of %s", p, got, want)
	}
	a, err := ahp.DecodeAction(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.(ahp.TerminalData).Data; !bytes.Equal(got, toValid(p)) {
		t.Fatalf("%q decodes to %q", p, got)
	}
}

// toValid replaces each byte that is not UTF-8.
func toValid(p []byte) (valid []byte) {
	for _, r := range string(p) {
		valid = append(valid, string(r)...)
	}
	return valid
}

// checkContent fails unless the content of a JSON string decodes as package jsontext does it.
func checkContent(t *testing.T, in []byte) {
	t.Helper()
	value := append(append([]byte{'"'}, in...), '"')
	if !json.Valid(value) {
		return
	}
	want, _ := jsontext.AppendUnquote(nil, value)
	a, err := ahp.DecodeText("terminal/data", value, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.(ahp.TerminalData).Data; !bytes.Equal(got, want) {
		t.Fatalf("%s decodes to %q, want %q", value, got, want)
	}
}

// hardContents are contents of JSON strings.
var hardContents = []string{
	``, `a`, `\"\\\/\b\f\n\r\t`, `\u0000\u001f\u001B[0m`, `\u00e9\u4e2d\uFFFD`, `\ud83d\ude00`,
	`\ud83d`, `\ude00`, `a\ud83dxyzabcdefgh\ude00`, "\u00e9\u4e2d\U0001f600", "\xff", "a\xe4\xb8",
	"12345678\x7f\u0080", `1234567\\`, `12345678\u001b[31m1234567\r\n`,
}

// Each hard string stands at each place of the words and of the pieces in which output is handled.
func TestOutputIsEncodedAndDecodedAtEveryPlace(t *testing.T) {
	before := []byte(strings.Repeat("x", 280))
	for at := range len(before) + 1 {
		if at > 16 && at < 248 {
			continue
		}
		for _, s := range hardStrings {
			checkOutput(t, append(append(before[:at:at], s...), "end of it"...))
			checkOutput(t, append(before[:at:at], s...))
		}
		for _, s := range hardContents {
			checkContent(t, append(append(before[:at:at], s...), "end of it"...))
			checkContent(t, append(before[:at:at], s...))
		}
	}
	for a := range 256 {
		for b := range 256 {
			checkOutput(t, []byte{'a', byte(a), byte(b), 'z', '1', '2', '3', '4', '5'})
		}
	}
	checkOutput(t, bytes.Repeat([]byte{0x80}, 1000))
	checkOutput(t, bytes.Repeat([]byte("\xf0\x9f\x98"), 400))
	checkOutput(t, bytes.Repeat([]byte("\U0001f600"), 400))
}

func FuzzOutput(f *testing.F) {
	for _, s := range hardStrings {
		f.Add([]byte(s))
	}
	for _, s := range hardContents {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		checkOutput(t, p)
		checkContent(t, p)
	})
}

func BenchmarkDecodeData64KiB(b *testing.B) {
	raw := ahp.AppendAction(nil, ahp.TerminalData{Data: coloured(64 << 10)}, ahp.ShapeLifecycle)
	b.SetBytes(64 << 10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ahp.DecodeAction(raw); err != nil {
			b.Fatal(err)
		}
	}
}

package transport_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"termhost/ahp/transport"
)

func TestLinesAreMessages(t *testing.T) {
	in := "one\n\n  two \r\n" + strings.Repeat("x", 200) + "\nthree\nhalf"
	var out bytes.Buffer
	l := transport.NewLines(strings.NewReader(in), &out, 100, func(string) error { return nil })
	for _, want := range []string{"one", "two", "", "three"} {
		msg, err := l.Read()
		var bad *transport.MessageError
		if string(msg) != want || (want == "") != errors.As(err, &bad) {
			t.Errorf("%q %v, want %q", msg, err, want)
		}
	}
	if msg, err := l.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("half a line: %q %v", msg, err)
	}
	for _, msg := range []string{"a", "b"} {
		if err := l.Write([]byte(msg)); err != nil {
			t.Error(err)
		}
	}
	if out.String() != "a\nb\n" {
		t.Errorf("wrote %q", out.String())
	}
}

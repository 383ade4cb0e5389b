package verbs

import (
	"strings"
	"testing"

	"rsc.io/qr"
)

// The drawing has each module of the code in its place, dark on light, with a quiet zone around.
func TestAQRCodeIsDrawnModuleByModule(t *testing.T) {
	const url = "https://box.example.com/#t=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHIJ"
	drawn, err := qrCode(url)
	if err != nil {
		t.Fatal(err)
	}
	code, err := qr.Encode(url, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
	if want := (code.Size + 2*quietZone + 1) / 2; len(lines) != want {
		t.Fatalf("it has %d lines, not %d", len(lines), want)
	}
	for i, line := range lines {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "\x1b[30;107m"), "\x1b[m")
		modules := []rune(line)
		if len(modules) != code.Size+2*quietZone {
			t.Fatalf("line %d has %d modules", i, len(modules))
		}
		for j, r := range modules {
			x, y := j-quietZone, 2*i-quietZone
			if upper := r == '\u2588' || r == '\u2580'; upper != code.Black(x, y) {
				t.Errorf("module %d,%d is drawn wrongly", x, y)
			}
			if lower := r == '\u2588' || r == '\u2584'; lower != code.Black(x, y+1) {
				t.Errorf("module %d,%d is drawn wrongly", x, y+1)
			}
		}
	}
	if _, err := qrCode(strings.Repeat("x", 5000)); err == nil {
		t.Error("a text that no code has room for has one")
	}
}

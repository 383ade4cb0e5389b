package vt

import (
	"fmt"
	"strings"
	"testing"
)

// The headers are those that sz and rz of lrzsz print.
func TestAZmodemTransferIsNoticedWhenItBegins(t *testing.T) {
	for header, begins := range map[string]bool{
		"**\x18B00000000000000\r\x8a\x11": true,  // ZRQINIT
		"**\x18B0100000023be50\r\x8a\x11": true,  // ZRINIT
		"**\x18B0900000000a87c\r\x8a\x11": false, // ZRPOS, in the middle
		"**\x18B00000000000001\r\x8a\x11": false, // damaged
		"**B00000000000000\r\n":           false,
		"\x18rest":                        false,
	} {
		in := "sz\r\n" + header
		for cut := range len(in) {
			var r recorder
			s := New(40, 10, Options{})
			s.Feed([]byte(in[:cut]), &r)
			s.Feed([]byte(in[cut:]), &r)
			if got := strings.Contains(fmt.Sprint(r.events), "zmodem"); got != begins {
				t.Errorf("%q, cut at %d: a transfer begins: %v", header, cut, got)
			}
			if strings.Contains(r.data.String(), "\x18") {
				t.Errorf("%q, cut at %d: a viewer's terminal gets %q", header, cut, r.data.String())
			}
		}
	}
}

package sshd

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ptypool/vt"
)

func TestEveryKeyNameIsUnderstood(t *testing.T) {
	const (
		shift, alt, ctrl = vt.ModShift, vt.ModAlt, vt.ModCtrl
		f1               = vt.KeyF1
	)
	for _, c := range []struct {
		names string // of one key
		want  vt.Key
	}{
		{"enter return cr Enter", vt.Key{Code: vt.KeyEnter}},
		{"tab Tab", vt.Key{Code: vt.KeyTab}},
		{"shift-tab backtab back-tab btab BTab S-Tab", vt.Key{Code: vt.KeyTab, Mods: shift}},
		{"esc escape Escape", vt.Key{Code: vt.KeyEscape}},
		{"space spc Space", vt.Key{Code: ' '}},
		{"backspace back-space bspace BSpace bs", vt.Key{Code: vt.KeyBackspace}},
		{"up Up UP", vt.Key{Code: vt.KeyUp}},
		{"down", vt.Key{Code: vt.KeyDown}},
		{"right", vt.Key{Code: vt.KeyRight}},
		{"left", vt.Key{Code: vt.KeyLeft}},
		{"home", vt.Key{Code: vt.KeyHome}},
		{"end", vt.Key{Code: vt.KeyEnd}},
		{"insert ins ic IC", vt.Key{Code: vt.KeyInsert}},
		{"delete del dc DC", vt.Key{Code: vt.KeyDelete}},
		{"pageup page-up pgup PgUp PPage", vt.Key{Code: vt.KeyPageUp}},
		{"pagedown page-down pgdn pgdown PageDown NPage", vt.Key{Code: vt.KeyPageDown}},
		{"f1 F1", vt.Key{Code: f1}},
		{"f12", vt.Key{Code: vt.KeyF12}},
		{"f13", vt.Key{Code: vt.KeyF12 + 1}},
		{"f24", vt.Key{Code: vt.KeyF24}},
		{"kp-0 kp0 KP0", vt.Key{Code: vt.KeyKP0}},
		{"kp-9", vt.Key{Code: vt.KeyKP9}},
		{"kp-enter KPEnter", vt.Key{Code: vt.KeyKPEnter}},
		{"kp-plus kp+", vt.Key{Code: vt.KeyKPAdd}},
		{"kp-minus kp- kp--", vt.Key{Code: vt.KeyKPSubtract}},
		{"kp-multiply kp*", vt.Key{Code: vt.KeyKPMultiply}},
		{"kp-divide kp/", vt.Key{Code: vt.KeyKPDivide}},
		{"kp-decimal kp.", vt.Key{Code: vt.KeyKPDecimal}},
		{"kp-equal kp=", vt.Key{Code: vt.KeyKPEqual}},

		{"ctrl-left C-Left control-left ctrl+left", vt.Key{Code: vt.KeyLeft, Mods: ctrl}},
		{"ctrl-right", vt.Key{Code: vt.KeyRight, Mods: ctrl}},
		{"ctrl-up", vt.Key{Code: vt.KeyUp, Mods: ctrl}},
		{"ctrl-home", vt.Key{Code: vt.KeyHome, Mods: ctrl}},
		{"shift-up S-Up", vt.Key{Code: vt.KeyUp, Mods: shift}},
		{"alt-left meta-left M-Left", vt.Key{Code: vt.KeyLeft, Mods: alt}},
		{"shift-f3", vt.Key{Code: f1 + 2, Mods: shift}},
		{"shift-f5", vt.Key{Code: f1 + 4, Mods: shift}},
		{"ctrl-f5 C-F5", vt.Key{Code: f1 + 4, Mods: ctrl}},
		{"ctrl-shift-left shift-ctrl-left C-S-Left", vt.Key{Code: vt.KeyLeft, Mods: ctrl | shift}},
		{"ctrl-alt-x alt-ctrl-x C-M-x M-C-x", vt.Key{Code: 'x', Mods: ctrl | alt}},
		{"ctrl-alt-shift-f12", vt.Key{Code: vt.KeyF12, Mods: ctrl | alt | shift}},
		{"ctrl-enter", vt.Key{Code: vt.KeyEnter, Mods: ctrl}},
		{"shift-enter", vt.Key{Code: vt.KeyEnter, Mods: shift}},
		{"ctrl-backspace", vt.Key{Code: vt.KeyBackspace, Mods: ctrl}},
		{"ctrl-page-up", vt.Key{Code: vt.KeyPageUp, Mods: ctrl}},
		{"ctrl-kp-5", vt.Key{Code: vt.KeyKP0 + 5, Mods: ctrl}},
		{"ctrl-space C-Space", vt.Key{Code: ' ', Mods: ctrl}},
		{"shift-space", vt.Key{Code: ' ', Mods: shift}},

		{"x", vt.Key{Code: 'x'}},
		{"X", vt.Key{Code: 'X'}},
		{"1", vt.Key{Code: '1'}},
		{"-", vt.Key{Code: '-'}},
		{"^", vt.Key{Code: '^'}},
		{"é", vt.Key{Code: 'é'}},
		{"shift-x", vt.Key{Code: 'x', Mods: shift}},
		{"alt-x M-x", vt.Key{Code: 'x', Mods: alt}},
		{"alt-X", vt.Key{Code: 'X', Mods: alt}},
		{"alt-. M-.", vt.Key{Code: '.', Mods: alt}},
		{"ctrl-c ctrl-C C-c ^c ^C CTRL-C ctrl+c", vt.Key{Code: 'c', Mods: ctrl}},
		{"ctrl-shift-c", vt.Key{Code: 'c', Mods: ctrl | shift}},
		{"ctrl-/", vt.Key{Code: '/', Mods: ctrl}},
		{"ctrl-- ^-", vt.Key{Code: '-', Mods: ctrl}},
		{"ctrl-+ ctrl++", vt.Key{Code: '+', Mods: ctrl}},
		{"ctrl-\\ ^\\", vt.Key{Code: '\\', Mods: ctrl}},
		{"ctrl-] ^]", vt.Key{Code: ']', Mods: ctrl}},
		{"ctrl-@ ^@", vt.Key{Code: '@', Mods: ctrl}},
		{"ctrl-? ^?", vt.Key{Code: '?', Mods: ctrl}},
	} {
		for _, name := range strings.Fields(c.names) {
			if got, ok := parseKey(name); !ok || got != c.want {
				t.Errorf("%s: %+v, %v; want %+v", name, got, ok, c.want)
			}
		}
	}
	for _, name := range []string{
		"", "ctrl-", "ctrl", "nokey", "f0", "f01", "f25", "fx", "kp", "kp-x", "kp-10", "ctrl-ctrl-x", "hyper-x", "xy",
		"shift-1", "\x03", "\xff", "ctrl-\x7f", "up-", "-up",
	} {
		if got, ok := parseKey(name); ok {
			t.Errorf("%q is %+v", name, got)
		}
	}
}

func TestSentKeysFollowTheProgramsModesAndTheText(t *testing.T) {
	r := newRig(t, rigOptions{})
	for i, c := range []struct {
		modes, flags, text string
		want               string // as cat -v has it
	}{
		{"", "--key up --key ctrl-left --enter", "a b", "a b^[[A^[[1;5D^M"},
		{`\033[?1h\033=`, "--enter --key up --key kp-5", "", "^[OA^[Ou^M"},
		{`\033[>1u`, "--key esc --key ctrl-c --key alt-x --enter", "", "^[[27u^[[99;5u^[[120;3u^M"},
		{`\033[>4;2m`, "--key ctrl-c", "", "^[[27;5;99~"},
		{`\033[?67h`, "--key bs", "-- --x", "-- --x^H"},
	} {
		name := fmt.Sprint("reader", i)
		r.ssh("alice", "", "new -d -n "+name+" -- stty raw -echo; printf '"+c.modes+"ready:'; exec cat -v")
		eventually(t, "the program reads", func() bool { return strings.Contains(r.ssh("alice", "", "peek "+name).stdout, "ready:") })
		if got := r.ssh("alice", "", "send "+c.flags+" "+name+" "+strings.Replace(c.text, "-- ", "'--' ", 1)); got.status != 0 {
			t.Fatalf("%s: %+v", c.flags, got)
		}
		want := "ready:" + c.want + "\n"
		eventually(t, want, func() bool { return strings.HasPrefix(r.ssh("alice", "", "peek "+name).stdout, want) })
	}
	for _, key := range []string{"ctrl-left", "kp-5"} {
		if strings.Contains(r.log.String(), key) {
			t.Errorf("the log tells of %s", key)
		}
	}
}

package keyboard

import (
	"strings"
	"testing"
)

func TestEveryKeyNameIsUnderstood(t *testing.T) {
	const (
		shift, alt, ctrl = Shift, Alt, Ctrl
		f1               = F1
	)
	for _, c := range []struct {
		names string // of one key
		want  Key
	}{
		{"enter return cr Enter", Key{Code: Enter}},
		{"tab Tab", Key{Code: Tab}},
		{"shift-tab backtab back-tab btab BTab S-Tab", Key{Code: Tab, Mods: shift}},
		{"esc escape Escape", Key{Code: Escape}},
		{"space spc Space", Key{Code: ' '}},
		{"backspace back-space bspace BSpace bs", Key{Code: Backspace}},
		{"up Up UP", Key{Code: Up}},
		{"down", Key{Code: Down}},
		{"right", Key{Code: Right}},
		{"left", Key{Code: Left}},
		{"home", Key{Code: Home}},
		{"end", Key{Code: End}},
		{"insert ins ic IC", Key{Code: Insert}},
		{"delete del dc DC", Key{Code: Delete}},
		{"pageup page-up pgup PgUp PPage", Key{Code: PageUp}},
		{"pagedown page-down pgdn pgdown PageDown NPage", Key{Code: PageDown}},
		{"f1 F1", Key{Code: f1}},
		{"f12", Key{Code: F12}},
		{"f13", Key{Code: F12 + 1}},
		{"f24", Key{Code: F24}},
		{"kp-0 kp0 KP0", Key{Code: KP0}},
		{"kp-9", Key{Code: KP9}},
		{"kp-enter KPEnter", Key{Code: KPEnter}},
		{"kp-plus kp+", Key{Code: KPAdd}},
		{"kp-minus kp- kp--", Key{Code: KPSubtract}},
		{"kp-multiply kp*", Key{Code: KPMultiply}},
		{"kp-divide kp/", Key{Code: KPDivide}},
		{"kp-decimal kp.", Key{Code: KPDecimal}},
		{"kp-equal kp=", Key{Code: KPEqual}},

		{"ctrl-left C-Left control-left ctrl+left", Key{Code: Left, Mods: ctrl}},
		{"ctrl-right", Key{Code: Right, Mods: ctrl}},
		{"ctrl-up", Key{Code: Up, Mods: ctrl}},
		{"ctrl-home", Key{Code: Home, Mods: ctrl}},
		{"shift-up S-Up", Key{Code: Up, Mods: shift}},
		{"alt-left meta-left M-Left", Key{Code: Left, Mods: alt}},
		{"shift-f3", Key{Code: f1 + 2, Mods: shift}},
		{"shift-f5", Key{Code: f1 + 4, Mods: shift}},
		{"ctrl-f5 C-F5", Key{Code: f1 + 4, Mods: ctrl}},
		{"ctrl-shift-left shift-ctrl-left C-S-Left", Key{Code: Left, Mods: ctrl | shift}},
		{"ctrl-alt-x alt-ctrl-x C-M-x M-C-x", Key{Code: 'x', Mods: ctrl | alt}},
		{"ctrl-alt-shift-f12", Key{Code: F12, Mods: ctrl | alt | shift}},
		{"ctrl-enter", Key{Code: Enter, Mods: ctrl}},
		{"shift-enter", Key{Code: Enter, Mods: shift}},
		{"ctrl-backspace", Key{Code: Backspace, Mods: ctrl}},
		{"ctrl-page-up", Key{Code: PageUp, Mods: ctrl}},
		{"ctrl-kp-5", Key{Code: KP0 + 5, Mods: ctrl}},
		{"ctrl-space C-Space", Key{Code: ' ', Mods: ctrl}},
		{"shift-space", Key{Code: ' ', Mods: shift}},

		{"x", Key{Code: 'x'}},
		{"X", Key{Code: 'X'}},
		{"1", Key{Code: '1'}},
		{"-", Key{Code: '-'}},
		{"^", Key{Code: '^'}},
		{"é", Key{Code: 'é'}},
		{"shift-x", Key{Code: 'x', Mods: shift}},
		{"alt-x M-x", Key{Code: 'x', Mods: alt}},
		{"alt-X", Key{Code: 'X', Mods: alt}},
		{"alt-. M-.", Key{Code: '.', Mods: alt}},
		{"ctrl-c ctrl-C C-c ^c ^C CTRL-C ctrl+c", Key{Code: 'c', Mods: ctrl}},
		{"ctrl-shift-c", Key{Code: 'c', Mods: ctrl | shift}},
		{"ctrl-/", Key{Code: '/', Mods: ctrl}},
		{"ctrl-- ^-", Key{Code: '-', Mods: ctrl}},
		{"ctrl-+ ctrl++", Key{Code: '+', Mods: ctrl}},
		{"ctrl-\\ ^\\", Key{Code: '\\', Mods: ctrl}},
		{"ctrl-] ^]", Key{Code: ']', Mods: ctrl}},
		{"ctrl-@ ^@", Key{Code: '@', Mods: ctrl}},
		{"ctrl-? ^?", Key{Code: '?', Mods: ctrl}},
	} {
		for _, name := range strings.Fields(c.names) {
			if got, err := Parse(name); err != nil || got != c.want {
				t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
			}
		}
	}
	for _, name := range []string{
		"", "ctrl-", "ctrl", "nokey", "f0", "f01", "f25", "fx", "kp", "kp-x", "kp-10", "ctrl-ctrl-x", "hyper-x", "xy",
		"shift-1", "\x03", "\xff", "ctrl-\x7f", "up-", "-up",
	} {
		if got, err := Parse(name); err == nil {
			t.Errorf("%q is %+v", name, got)
		}
	}
}

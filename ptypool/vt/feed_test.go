package vt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// recorder is a Sink that records all calls.
type recorder struct {
	pictures bool // it says that it draws pictures
	data     strings.Builder
	marks    []byte
	events   []string
}

func (r *recorder) event(format string, args ...any) {
	r.events = append(r.events, fmt.Sprintf("%d:", r.data.Len())+fmt.Sprintf(format, args...))
}
func (r *recorder) Data(p []byte)      { r.data.Write(p) }
func (r *recorder) Reply(p []byte)     { r.event("reply %q", p) }
func (r *recorder) Clipboard(p []byte) { r.event("clipboard %q", p) }
func (r *recorder) Mark(p []byte)      { r.marks = append(r.marks, p...) }
func (r *recorder) Notification(p []byte, text string) {
	r.event("notification %q %q", p, text)
}
func (r *recorder) Title(s string)                { r.event("title %q", s) }
func (r *recorder) Cwd(s string)                  { r.event("cwd %q", s) }
func (r *recorder) CommandDetection()             { r.event("detection") }
func (r *recorder) PromptStart()                  { r.event("prompt") }
func (r *recorder) CommandExecuted(s string)      { r.event("executed %q", s) }
func (r *recorder) CommandFinished(n int, k bool) { r.event("finished %d %v", n, k) }
func (r *recorder) Bell()                         { r.event("bell") }
func (r *recorder) DrawsPictures() bool           { return r.pictures }
func (r *recorder) ControlMode()                  { r.event("control mode") }
func (r *recorder) Zmodem()                       { r.event("zmodem") }

// first returns the first event of one of the kinds; "": there is none.
func (r *recorder) first(kinds ...string) string {
	for _, e := range r.events {
		_, event, _ := strings.Cut(e, ":")
		if kind, _, _ := strings.Cut(event, " "); slices.Contains(kinds, kind) {
			return event
		}
	}
	return ""
}

func (r *recorder) String() string {
	return fmt.Sprintf("%q %s", r.data.String(), strings.Join(r.events, ", "))
}

func newTest() *Screen {
	return New(20, 5, Options{Nonce: "n0nce", ScrollbackLines: 100, Version: "1.0"})
}

// feedCases are outputs, with what viewers get and the events; the number before an event is how
// much data came before it.
var feedCases = []struct{ name, in, data, events string }{
	{"plain text", "hello\r\n", "hello\r\n", ""},
	{"runes", "aé漢👍🏽z", "aé漢👍🏽z", ""},
	{"invalid UTF-8 stays", "a\xffb\xe2\x82c\xf0\x9f\x98", "a\xffb\xe2\x82c", ""},
	{"colours stay", "\x1b[1;38;2;1;2;3mx\x1b[0m", "\x1b[1;38;2;1;2;3mx\x1b[0m", ""},
	{"DA1", "a\x1b[cb", "ab", `1:reply "\x1b[?62;22;52c"`},
	{"DECID", "\x1bZ", "", `0:reply "\x1b[?62;22;52c"`},
	{"DA2, DA3", "\x1b[>c\x1b[=0c", "", `0:reply "\x1b[>1;277;0c", 0:reply "\x1bP!|00000000\x1b\\"`},
	{"DSR", "ab\x1b[5n\x1b[6n\x1b[?6n", "ab", `2:reply "\x1b[0n", 2:reply "\x1b[1;3R", 2:reply "\x1b[?1;3R"`},
	{"CPR in origin mode", "\x1b[2;4r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;4r\x1b[?6h\x1b[2;2H", `17:reply "\x1b[2;2R"`},
	{"CPR at pending wrap", strings.Repeat("x", 20) + "\x1b[6n", strings.Repeat("x", 20), `20:reply "\x1b[1;20R"`},
	{"theme", "\x1b[?996n\x1b[?2031$p\x1b[?2031;25h\x1b[?2031$p\x1b[?2031l\x1b[?2031$p", "\x1b[?25h",
		`0:reply "\x1b[?997;1n", 0:reply "\x1b[?2031;2$y", 6:reply "\x1b[?2031;1$y", 6:reply "\x1b[?2031;2$y"`},
	{"unknown DSR", "\x1b[?15n\x1b[7n", "", ""},
	{"OSC 10 11 12", "\x1b]10;?\a\x1b]11;?\x1b\\\x1b]12;?\a", "",
		`0:reply "\x1b]10;rgb:e5e5/e5e5/e5e5\a", 0:reply "\x1b]11;rgb:0000/0000/0000\x1b\\", 0:reply "\x1b]12;rgb:e5e5/e5e5/e5e5\a"`},
	{"OSC 10 with two", "\x1b]10;?;?\a", "", `0:reply "\x1b]10;rgb:e5e5/e5e5/e5e5\a", 0:reply "\x1b]11;rgb:0000/0000/0000\a"`},
	{"OSC 11 set", "\x1b]11;#102030\a\x1b]11;?\a", "\x1b]11;#102030\a", `13:reply "\x1b]11;rgb:1010/2020/3030\a"`},
	{"OSC 4", "\x1b]4;1;?;2;#fff;300;?\a\x1b]4;2;?\a", "\x1b]4;2;#fff\x1b\\",
		`0:reply "\x1b]4;1;rgb:cdcd/0000/0000\a", 12:reply "\x1b]4;2;rgb:ffff/ffff/ffff\a"`},
	{"other colour queries", "\x1b]5;0;?\a\x1b]13;?\a\x1b]17;?\a\x1b]21;foreground=?\a\x1b]22;?__current__\a", "", ""},
	{"XTVERSION", "\x1b[>q\x1b[>0q", "", `0:reply "\x1bP>|termhost 1.0\x1b\\", 0:reply "\x1bP>|termhost 1.0\x1b\\"`},
	{"DECRQM", "\x1b[?25$p\x1b[?2004$p\x1b[4$p\x1b[?4242$p", "",
		`0:reply "\x1b[?25;1$y", 0:reply "\x1b[?2004;2$y", 0:reply "\x1b[4;2$y", 0:reply "\x1b[?4242;0$y"`},
	{"DECRQSS", "\x1b[1;31m\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$q q\x1b\\\x1bP$qx\x1b\\", "\x1b[1;31m",
		`7:reply "\x1bP1$r0;1;31m\x1b\\", 7:reply "\x1bP1$r1;5r\x1b\\", 7:reply "\x1bP1$r0 q\x1b\\", 7:reply "\x1bP0$r\x1b\\"`},
	{"XTGETTCAP", "\x1bP+q544e;6b75\x1b\\", "",
		`0:reply "\x1bP1+r544e=787465726d2d323536636f6c6f72\x1b\\", 0:reply "\x1bP0+r6b75\x1b\\"`},
	{"window sizes", "\x1b[14t\x1b[16t\x1b[18t", "", `0:reply "\x1b[8;5;20t"`},
	{"window reports and operations", "\x1b[11t\x1b[13t\x1b[20t\x1b[21t\x1b[8;50;50t\x1b[3;1;1t", "", ""},
	{"kitty keyboard", "\x1b[?u\x1b[>5u\x1b[?u\x1b[<u\x1b[?u", "\x1b[>5u\x1b[<u",
		`0:reply "\x1b[?0u", 5:reply "\x1b[?5u", 9:reply "\x1b[?0u"`},
	{"modifyOtherKeys", "\x1b[>4;2m\x1b[?4m", "\x1b[>4;2m", `7:reply "\x1b[>4;2m"`},
	{"other queries", "a\x05\x1b[x\x1b[1$w\x1b[?1;1;0S\x1b[1;1;1;1;1;1*y\x1b[1$u\x1b[&u\x1b[\"v\x1b['|\x1b[#|b", "ab", ""},
	{"C1 forms", "\u009b6n\u009b1mx\u0085\u009d0;t\u009c\u0090$qm\u009c\u009a", "\x1b[1mx\x1bE\x1b]0;t\x1b\\",
		`0:reply "\x1b[1;1R", 7:title "t", 14:reply "\x1bP1$r0;1m\x1b\\", 14:reply "\x1b[?62;22;52c"`},
	{"a control made by what is removed", "\xc2\x1b[c\x9b6n\xe2\x05\x82\xac\xc2\u0098x\u009c\x9bc", "\xc2\x18\x9b6n\xe2\x18\x82\xac\xc2\x18\x9bc", `1:reply "\x1b[?62;22;52c"`},
	{"clipboard", "a\x1b]52;c;aGk=\ab\x1b]52;c;?\ac", "abc",
		`1:clipboard "\x1b]52;c;aGk=\a", 2:reply "\x1b]52;c;aGk=\a"`},
	{"a read before any copy", "\x1b]52;c;?\a\x1b]52;;?\x1b\\", "", `0:reply "\x1b]52;c;\a", 0:reply "\x1b]52;;\x1b\\"`},
	{"a read of another selection", "\x1b]52;c;aGk=\a\x1b]52;p0;?\x1b\\", "",
		`0:clipboard "\x1b]52;c;aGk=\a", 0:reply "\x1b]52;p0;aGk=\x1b\\"`},
	{"a read of no selection", "\x1b]52;;aGk=\a\x1b]52;x;?\a\x1b]52;c;?x\a\x1b]52;?\a", "", `0:clipboard "\x1b]52;;aGk=\a"`},
	{"copies that end one", "\x1b]52;c;aGk=\a\x1b]52;c;!\a\x1b]52;c;?\a\x1b]52;c;aGk\a\x1b]52;c;?\a", "",
		`0:clipboard "\x1b]52;c;aGk=\a", 0:clipboard "\x1b]52;c;!\a", 0:reply "\x1b]52;c;\a", ` +
			`0:clipboard "\x1b]52;c;aGk\a", 0:reply "\x1b]52;c;aGk=\a"`},
	{"title", "\x1b]0;one\a\x1b]2;tw\x01o\x1b\\\x1b]1;icon\a", "\x1b]0;one\a\x1b]2;two\x1b\\\x1b]1;icon\a",
		`0:title "one", 8:title "two"`},
	{"title with what is not seen", "\x1b]2;a\u200bb\u200d\u2028c\u2029\u202ed\U000e0041\U000e0100\ufeff\u00ad\u3164⚠\ufe0fé漢\a", "\x1b]2;abcd⚠\ufe0fé漢\x1b\\",
		"0:title \"abcd⚠\ufe0fé漢\""},
	{"title stack", "\x1b]2;one\a\x1b[22;0;0t\x1b]2;two\a\x1b[23;0;0t\x1b[23t", "\x1b]2;one\a\x1b]2;two\a\x1b]2;one\x1b\\",
		`0:title "one", 8:title "two", 16:title "one"`},
	{"control characters in a string", "\x1b]52;c;aG\nk=\a\x1b]9;a\r\u009bb\a", "", `0:clipboard "\x1b]52;c;aGk=\x1b\\", 0:notification "\x1b]9;ab\x1b\\" "ab"`},
	{"cwd", "\x1b]7;file://h/a b\a\x1b]633;P;Cwd=/x\\x3by;n0nce\a\x1b]7;http://no\a", "\x1b]7;file://h/a b\a",
		`0:cwd "file://h/a%20b", 17:cwd "file:///x;y"`},
	{"633", "\x1b]633;A;n0nce\aP\x1b]633;B;n0nce\a\x1b]633;E;a\\x3bb\\\\c;n0nce\a\x1b]633;C;n0nce\aout\x1b]633;D;3;n0nce\a", "Pout",
		`0:detection, 0:prompt, 1:executed "a;b\\c", 4:finished 3 true`},
	{"marks without the nonce", "\x1b]633;A\a\x1b]633;E;evil;guess\a\x1b]633;C\a\x1b]633;D;0\a\x1b]633;P;Cwd=/evil\a" +
		"\x1b]133;A\a\x1b]133;C\a\x1b]133;D;0\a\x1b]633;D;0;guess\a\x1b]633;n0nce\a\x1b]633\a", "", ""},
	{"a forged end", "\x1b]633;C;n0nce\a\x1b]633;D;0\a\x1b]633;D;0;\a\x1b]633;D;2;n0nce\a", "",
		`0:detection, 0:executed "", 0:finished 2 true`},
	{"a nonce in pieces", "\x1b]633;C;n0\x01nce\a\x1b]0633;C;n0\x7fnce\a\x1b]633;C;\u0080n0nce\u0081\a\x1b]6\r33;C;n0\nnce\x1b\\" +
		"\x1b]633;E;a\u0085b;n0nce\a\x1b]633;C;n0nce\a", "", `0:detection, 0:executed "ab"`},
	{"finished without executed", "\x1b]633;D;1;n0nce\a", "", `0:detection`},
	{"executed twice", "\x1b]633;C;n0nce\a\x1b]633;C;n0nce\a", "", `0:detection, 0:executed "", 0:finished 0 false, 0:executed ""`},
	{"bell", "a\ab", "a\ab", `2:bell`},
	{"string cut by a sequence", "\x1b]0;half\x1b[1mx", "\x1b[1mx", ""},
	{"sequence cut by another", "\x1b[3\x1b[1mx", "\x1b[1mx", ""},
	{"sequence cut by text", "\x1b[3éx", "éx", ""},
	{"CAN", "\x1b[3\x18x\x1b]0;t\x18y", "xy", ""},
	{"control inside a sequence", "\x1b[3\n1mx\x1b[\a6n", "\n\x1b[31mx\a", `8:bell, 8:reply "\x1b[2;2R"`},
	{"unknown modes go", "\x1b[?25;9999h\x1b[?9999l\x1b[?1;7h", "\x1b[?25h\x1b[?1;7h", ""},
	{"strings of others", "a\x1b_Gf=1\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\\x1bPqsixel\x1b\\b", "a\u25a3\x1b[2Gb", ""},
	{"unknown OSC", "\x1b]1337;Copy=x\a\x1b]50;?\a\x1b]lx\a\x1b]999999;x\a", "", ""},
	{"notifications", "a\x1b]9;hi\ab\x1b]777;notify;a;b\x1b\\\x1b]99;;hi\ac", "abc",
		`1:notification "\x1b]9;hi\a" "hi", 2:notification "\x1b]777;notify;a;b\x1b\\" "a: b", ` +
			`2:notification "\x1b]99;;hi\x1b\\" "hi"`},
	{"notifications in pieces", "\x1b]99;i=1:d=0;Claude\x1b\\x\x1b]99;i=1:p=body:e=1;bmVlZHMbIHlvdQ==\x1b\\", "x",
		`1:notification "\x1b]99;;Claude: needs you\x1b\\" "Claude: needs you"`},
	{"a notification without its end", "\x1b]99;i=1:d=0;a\x1b\\\x1b]99;i=2;b\x1b\\", "",
		`0:notification "\x1b]99;;b\x1b\\" "b"`},
	{"what a terminal would answer", "\x1b]99;i=1:p=?;\x1b\\\x1b]99;i=1:p=close;\x1b\\\x1b]99;i=2:p=icon;x\x1b\\\x1b]99;i=3:a=report:c=1;hi\x1b\\", "",
		`0:notification "\x1b]99;;hi\x1b\\" "hi"`},
	{"marks of shells", "\x1b]777;precmd\x1b\\\x1b]777;notify;;\x1b\\\x1b]9;\a", "", ""},
	{"progress", "\x1b]9;4;1;50\a\x1b]9;4;0\a", "\x1b]9;4;1;50\a\x1b]9;4;0\a", ""},
	{"notifications that are none", "\x1b]9;007;cmd\a\x1b]9; 7;cmd\a\x1b]9;12\a\x1b]9;+7 ;cmd\a\x1b]9;04;1;5\a\x1b]09;7;cmd\a\x1b]9;\u00a07;x\a\x1b]9;7\a\x1b]9;7;cmd\a", "", ""},
	{"notifications with numbers", "\x1b]9;3 of 4; done\a\x1b]9;12:30\a", "",
		`0:notification "\x1b]9;3 of 4; done\a" "3 of 4; done", 0:notification "\x1b]9;12:30\a" "12:30"`},
	{"counts beyond any screen", "x\x1b[2147483647b\x1b[9999C\x1b[10000;1H\x1b[0000000007A\x1b[99999999999999999999'}", "x\x1b[9999b\x1b[9999C\x1b[9999;1H\x1b[0000000007A\x1b[9999'}", ""},
	{"such a count in a colour", "\x1b[1;;38:2::70000:2:3mx", "\x1b[1;;38:2::9999:2:3mx", ""},
	{"parameters that nobody reads", "\x1b[?25" + strings.Repeat(";25", 31) + ";2031h\x1b[" + strings.Repeat("1;", 32) + "70000m",
		"\x1b[?25" + strings.Repeat(";25", 31) + "h\x1b[1" + strings.Repeat(";1", 31) + "m", ""},
	{"hyperlink", "\x1b]8;id=a;http://x\x1b\\l\x1b]8;;\x1b\\", "\x1b]8;id=a;http://x\x1b\\l\x1b]8;;\x1b\\", ""},
}

func TestFeedPassesDataAndEvents(t *testing.T) {
	for _, c := range feedCases {
		t.Run(c.name, func(t *testing.T) {
			var r recorder
			newTest().Feed([]byte(c.in), &r)
			if r.data.String() != c.data {
				t.Errorf("data %q, want %q", r.data.String(), c.data)
			}
			if got := strings.Join(r.events, ", "); got != c.events {
				t.Errorf("events\n%s\nwant\n%s", got, c.events)
			}
		})
	}
}

func TestMarksWithoutOurIntegrationAreAccepted(t *testing.T) {
	for _, c := range []struct{ name, in, events string }{
		{"633", "\x1b]633;E;evil;\a\x1b]633;C\a\x1b]633;D\a", `0:detection, 0:executed "", 0:finished 0 false`},
		{"133", "\x1b]133;A;cl=m\x1b\\\x1b]133;A;k=s\a\x1b]133;C\a\x1b]133;D;0;aid=1\a",
			`0:detection, 0:prompt, 0:executed "", 0:finished 0 true`},
		{"133 beside 633", "\x1b]633;A\a\x1b]133;A\a", `0:detection, 0:prompt`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r recorder
			New(20, 5, Options{}).Feed([]byte(c.in), &r)
			if got := strings.Join(r.events, ", "); got != c.events || r.data.Len() > 0 {
				t.Errorf("data %q, events\n%s\nwant\n%s", r.data.String(), got, c.events)
			}
		})
	}
}

func TestAnySplitOfTheOutputGivesTheSame(t *testing.T) {
	for _, c := range feedCases {
		var whole recorder
		a := newTest()
		a.Feed([]byte(c.in), &whole)
		for i := range len(c.in) + 1 {
			for j := i; j <= len(c.in); j++ {
				var r recorder
				b := newTest()
				for _, part := range []string{c.in[:i], c.in[i:j], c.in[j:]} {
					b.Feed([]byte(part), &r)
				}
				if r.String() != whole.String() {
					t.Fatalf("%s split at %d and %d:\n%s\nwant\n%s", c.name, i, j, &r, &whole)
				}
				x, y := string(a.AppendText(nil, true)), string(b.AppendText(nil, true))
				if x != y {
					t.Fatalf("%s split at %d and %d: screen\n%q\nwant\n%q", c.name, i, j, y, x)
				}
			}
		}
	}
}

func TestFlushReleasesPartialSequences(t *testing.T) {
	for _, c := range []struct{ name, first, flushed, second, data, events string }{
		{"rune", "a\xe2\x82", "a\xe2\x82", "\xacb", "a\xe2\x82\xacb", ""},
		{"escape", "\x1b", "\x1b", "[1mx", "\x1b[1mx", ""},
		{"colour", "\x1b[3", "\x1b[3", "1mx", "\x1b[31mx", ""},
		{"query is cancelled", "\x1b[6", "\x1b[6", "nx", "\x1b[6\x18x", `3:reply "\x1b[1;1R"`},
		{"mark stays back", "\x1b]633;", "", "A;n0nce\a", "", "0:detection, 0:prompt"},
		{"mark after a flushed escape", "\x1b", "\x1b", "]633;A;n0nce\a", "\x1b\x18", "1:detection, 1:prompt"},
		{"title stays back", "\x1b]0;t", "", "\a", "\x1b]0;t\a", `0:title "t"`},
		{"ignored string", "\x1b", "\x1b", "_x\x1b\\y", "\x1b\x18y", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r recorder
			v := newTest()
			v.Feed([]byte(c.first), &r)
			v.Flush(&r)
			if v.Pending() {
				t.Error("pending after Flush")
			}
			if got := r.data.String(); got != c.flushed {
				t.Errorf("flushed %q, want %q", got, c.flushed)
			}
			v.Feed([]byte(c.second), &r)
			if got := r.data.String(); got != c.data {
				t.Errorf("data %q, want %q", got, c.data)
			}
			if got := strings.Join(r.events, ", "); got != c.events {
				t.Errorf("events %s, want %s", got, c.events)
			}
		})
	}
}

func TestOversizedSequencesAreRemoved(t *testing.T) {
	for _, c := range []struct{ name, head, tail string }{
		{"OSC", "\x1b]0;", "\a"},
		{"OSC with ST", "\x1b]52;c;", "\x1b\\"},
		{"DCS", "\x1bP$q", "\x1b\\"},
		{"CSI", "\x1b[", "m"},
		{"APC", "\x1b_", "\x1b\\"},
	} {
		in := c.head + strings.Repeat("1", 2*maxOSC) + c.tail + "after"
		for _, chunk := range []int{len(in), 1000, 7} {
			var r recorder
			v := newTest()
			for i := 0; i < len(in); i += chunk {
				v.Feed([]byte(in[i:min(len(in), i+chunk)]), &r)
				if cap(v.parser.held) > 2*maxOSC {
					t.Fatalf("%s: %d bytes held", c.name, cap(v.parser.held))
				}
			}
			if r.String() != `"after" ` {
				t.Errorf("%s in chunks of %d: %.80s", c.name, chunk, &r)
			}
			if cap(v.parser.held) > keepHeld {
				t.Errorf("%s: %d bytes kept", c.name, cap(v.parser.held))
			}
		}
	}
}

func TestTitleIsCapped(t *testing.T) {
	var r recorder
	v := newTest()
	v.Feed([]byte("\x1b]2;"+strings.Repeat("é", 200)+"\u0090\a"), &r)
	want := strings.Repeat("é", 128)
	if v.Title() != want || r.data.String() != "\x1b]2;"+want+"\x1b\\" {
		t.Errorf("%s", &r)
	}
}

func TestALongNotificationIsRemoved(t *testing.T) {
	var r recorder
	newTest().Feed([]byte("\x1b]9;"+strings.Repeat("x", maxNotification)+"\a"), &r)
	if r.String() != `"" ` {
		t.Errorf("%.100s", &r)
	}
}

func TestInSequenceIsTrueFromTheFirstByteToTheLastButOne(t *testing.T) {
	long := strings.Repeat("1", maxOSC)
	for _, seq := range []string{
		"漢", "👍", "\x1bM", "\x1b(0", "\x1b[1;31m", "\x1b[" + long + "m",
		"\x1b]0;title\a", "\x1b]8;;http://x\x1b\\", "\x1b]52;c;" + long + "\a", "\u009d0;t\u009c",
		"\x1bP$qm\x1b\\", "\x1bP" + long + "\x1b\\", "\x1b_Gi=1\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\",
	} {
		v := newTest()
		for i := range len(seq) {
			if in := v.InSequence(); in != (i > 0) {
				t.Fatalf("after %d bytes of %.20q: %v", i, seq, in)
			}
			v.Feed([]byte(seq[i:i+1]), nil)
			if len(seq) < maxCSI {
				v.Flush(&recorder{})
			}
		}
		if v.InSequence() {
			t.Errorf("after %.20q: still true", seq)
		}
	}
}

func TestMarginsAreReported(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "0 4 false",
		"\x1b[2;4r":               "1 3 false",
		"\x1b[2;4r\x1b[?6h":       "1 3 true",
		"\x1b[?6h":                "0 4 true",
		"\x1b[2;4r\x1b[?6h\x1b[r": "0 4 true",
		"\x1b[2;4r\x1b[?1049h":    "0 4 false", // each screen has its own
	} {
		v := newTest()
		v.Feed([]byte(in), nil)
		if got := fmt.Sprint(v.Margins()); got != want {
			t.Errorf("after %q: %s, want %s", in, got, want)
		}
	}
}

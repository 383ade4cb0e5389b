package ahp

import "testing"

func TestNamesOfTerminalsElsewhere(t *testing.T) {
	for uri, want := range map[string]string{
		"ahp-terminal:/build":      "ahp-terminal://box/build",
		"ahp-terminal:/a/b":        "ahp-terminal://box/a/b",
		"agent:/a/b":               "ahp-terminal://box/agent:/a/b",
		"agent://x/b":              "ahp-terminal://box/agent:@x/b",
		"ahp-terminal://home/x":    "ahp-terminal://box/ahp-terminal:@home/x",
		"ahp-terminal:/home:/x":    "ahp-terminal://box/ahp-terminal:/home:/x",
		"ahp-root://":              "",
		"ahp-session:/x":           "",
		"ahp-terminal:/a/../b":     "", // it is not normalized
		"ahp-terminal:/a%20b":      "",
		"ahp-terminal:/":           "",
		"":                         "",
		"agent://[::1]/b":          "",
		"ahp-terminal://HOME/x":    "",
		"ahp-terminal:/@home/x":    "ahp-terminal://box/@home/x",
		"agent://box@ahp/terminal": "",
	} {
		got, ok := FleetURI("box", uri)
		if got != want || ok != (want != "") {
			t.Errorf("%q is %q outside (%v), want %q", uri, got, ok, want)
		}
		if host, own, ok := SplitFleetURI(got); want != "" && (!ok || host != "box" || own != uri) {
			t.Errorf("%q is %q of %q (%v)", got, own, host, ok)
		}
	}
	for _, name := range []string{"ahp-terminal:/x", "ahp-terminal:///x", "ahp-terminal://box",
		"ahp-terminal://box/", "ahp-root://", "agent://box/x", "ahp-terminal://box/agent:",
		"ahp-terminal://box/agent:x/y"} {
		if host, own, ok := SplitFleetURI(name); ok {
			t.Errorf("%q is %q of %q", name, own, host)
		}
	}
}

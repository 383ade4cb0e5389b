package ahp_test

import (
	"strings"
	"testing"

	"termhost/ahp"
)

func TestNormalizeChannel(t *testing.T) {
	long := "ahp-terminal:/" + strings.Repeat("a", ahp.MaxURI-len("ahp-terminal:/"))
	for _, tc := range []struct{ in, want string }{ // "": refused
		// The root in all its spellings, and what only looks like it.
		{"ahp-root://", ahp.RootURI}, {"ahp-root:", ahp.RootURI}, {"ahp-root:/", ahp.RootURI},
		{"ahp-root:///", ahp.RootURI}, {"AHP-ROOT://", ahp.RootURI},
		{"ahp-root:x", ""}, {"ahp-root://x", ""}, {"ahp-root:/x", ""}, {"ahp-root:?", ""},
		{"ahp-root:#x", ""},
		{"ahp-root://u@", ""}, {"ahp-root:.", ""},

		// Plain ones stay as they are.
		{"ahp-terminal:/a", "ahp-terminal:/a"}, {"agenthost:/terminal/1", "agenthost:/terminal/1"},
		{"x://host/a", "x://host/a"}, {"x://host:80/a", "x://host:80/a"},

		// Case.
		{"AHP-Terminal:/a", "ahp-terminal:/a"}, {"ahp-terminal:/A", "ahp-terminal:/A"},
		{"x://HOST/A", "x://host/A"},

		// Empty authority, slashes and dot segments.
		{"ahp-terminal:///a", "ahp-terminal:/a"}, {"ahp-terminal:////a", "ahp-terminal:/a"},
		{"ahp-terminal:/a/", "ahp-terminal:/a"}, {"ahp-terminal:/./a", "ahp-terminal:/a"},
		{"ahp-terminal:/b/../a", "ahp-terminal:/a"}, {"ahp-terminal:/../../a", "ahp-terminal:/a"},
		{"ahp-terminal:/b//a", "ahp-terminal:/b/a"}, {"ahp-terminal:/b/..", "ahp-terminal:/"},

		// Escapes: needless ones go, before dot segments are looked for.
		{"ahp-terminal:/%61", "ahp-terminal:/a"}, {"ahp-terminal:/%41", "ahp-terminal:/A"},
		{"ahp-terminal:/b/%2e%2E/a", "ahp-terminal:/a"},
		{"ahp-terminal:/b%2Fa", "ahp-terminal:/b/a"},
		{"ahp-terminal:/%2561", "ahp-terminal:/%2561"}, {"ahp-terminal:/%zz", ""},
		{"ahp-terminal:/%", ""},
		{"ahp-terminal:/a b", "ahp-terminal:/a%20b"},
		{"ahp-terminal:/a%20b", "ahp-terminal:/a%20b"},
		{"ahp-terminal:/\u00e9", "ahp-terminal:/%C3%A9"},
		{"ahp-terminal:/%c3%a9", "ahp-terminal:/%C3%A9"},

		// What a channel has no use for.
		{"ahp-terminal:/a?q", ""}, {"ahp-terminal:/a?", ""}, {"ahp-terminal:/a#f", ""},
		{"ahp-terminal://user@h/a", ""}, {"ahp-terminal://user:pw@h/a", ""},
		{"", ""}, {"a", ""}, {"/a", ""}, {"//h/a", ""}, {"ahp-terminal:", ""},
		{"ahp-terminal:a", ""},
		{"ahp-terminal://h", ""}, {":/a", ""}, {"1x:/a", ""}, {"ahp terminal:/a", ""},
		{"ahp-terminal:/a\n", ""}, {"ahp-terminal:/a\x00", ""}, {" ahp-terminal:/a", ""},

		// Length, as given and as returned.
		{long, long}, {long + "a", ""},
		{"ahp-terminal:/" + strings.Repeat("\u00e9", 100), ""},
	} {
		got, ok := ahp.NormalizeChannel(tc.in)
		if ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%q: got %q, %v; want %q", tc.in, got, ok, tc.want)
		}
	}
}

func TestTerminalName(t *testing.T) {
	for _, tc := range []struct{ in, name string }{ // "": refused
		{"ahp-terminal:/a", "a"}, {"ahp-terminal:/x/y/Ab9._-", "Ab9._-"},
		{"agenthost:/terminal/1", "1"},
		{"x://host/n", "n"}, {"ahp-terminal:/" + strings.Repeat("n", 64), strings.Repeat("n", 64)},
		{"ahp-root:/a", ""}, {ahp.RootURI, ""}, {"AHP-Session:/a", ""}, {"ahp-chat:/a", ""},
		{"ahp-changeset:/a", ""},
		{"root:/a", ""}, {"session:/a", ""}, {"Chat:/a", ""}, {"changeset:/a", ""},
		{"ahp-terminal:/", ""}, {"ahp-terminal:/..", ""}, {"ahp-terminal:/a b", ""},
		{"ahp-terminal:/%2561", ""},
		{"ahp-terminal:/" + strings.Repeat("n", 65), ""}, {"ahp-terminal:/\u00e9", ""},
		{"ahp-terminal:/a%00", ""},
		{"ahp-terminal:/a%0a", ""}, {"ahp-terminal:/$(id)", ""}, {"ahp-terminal:/a;b", ""},
	} {
		channel, ok := ahp.NormalizeChannel(tc.in)
		if !ok {
			if tc.name != "" {
				t.Errorf("%q is refused", tc.in)
			}
			continue
		}
		name, ok := ahp.TerminalName(channel)
		if ok != (tc.name != "") || ok && name != tc.name {
			t.Errorf("%q: got %q, %v; want %q", tc.in, name, ok, tc.name)
		}
	}
}

func TestTerminalURIIsNormalizedAndCarriesItsName(t *testing.T) {
	for _, name := range []string{"a", "A.b_c-9", "...", strings.Repeat("n", ahp.MaxName)} {
		uri := ahp.TerminalURI(name)
		if norm, ok := ahp.NormalizeChannel(uri); !ok || norm != uri {
			t.Errorf("%q normalizes to %q, %v", uri, norm, ok)
		}
		if got, ok := ahp.TerminalName(uri); !ok || got != name {
			t.Errorf("%q has the name %q, %v", uri, got, ok)
		}
	}
}

func TestFilePath(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"file:///", "/"}, {"file:///a/b", "/a/b"}, {"file:/a", "/a"}, {"FILE:///a", "/a"},
		{"file://localhost/a", "/a"}, {"file://LOCALHOST/a", "/a"}, {"file:///a%20b", "/a b"},
		{"file:///a/../b/", "/b"}, {"file:///..%2f..", "/"},
		{"file://other/a", ""}, {"file:a", ""}, {"file:", ""}, {"file://", ""}, {"/a", ""},
		{"", ""},
		{"http:///a", ""}, {"file:///a%00b", ""}, {"file:///%zz", ""},
	} {
		got, ok := ahp.FilePath(tc.in)
		if ok != (tc.want != "") || got != tc.want {
			t.Errorf("%q: got %q, %v; want %q", tc.in, got, ok, tc.want)
		}
	}
	for _, p := range []string{"/", "/a b", "/%41", "/a?b#c", "/\u00e9\xff"} {
		if got, ok := ahp.FilePath(ahp.FileURI(p)); !ok || got != p {
			t.Errorf("%q came back as %q, %v", p, got, ok)
		}
	}
}

func FuzzNormalizeChannel(f *testing.F) {
	for _, s := range []string{"ahp-root:", "ahp-terminal:///a/%2e%2e/b", "X://H%41/%252f",
		"a:/\u00e9//", "a:/*", "a:/:b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, ok := ahp.NormalizeChannel(s)
		if !ok {
			return
		}
		if len(once) > ahp.MaxURI {
			t.Fatalf("%q became %d bytes", s, len(once))
		}
		if twice, ok := ahp.NormalizeChannel(once); !ok || twice != once {
			t.Fatalf("%q became %q, then %q, %v", s, once, twice, ok)
		}
		if name, ok := ahp.TerminalName(once); ok && !strings.HasSuffix(once, "/"+name) {
			t.Fatalf("%q has the name %q", once, name)
		}
	})
}

package config

import "testing"

func TestLinesOfKeys(t *testing.T) {
	text := "# a\n" + // 1
		"a.b = 1 # c\r\n" + // 2
		"\"q.x\".'y' = 1\n" + // 3
		"a.c = ''''\n" + // 4
		"''''' # end\n" + // 5
		"s = \"\\\"\\\\\" \n" + // 6
		"l = [ 1, # one ]\n" + // 7
		"  [2,\n" + // 8
		"   3], { z = [\n" + // 9
		"  ] },\n" + // 10
		"  \"]\", ]\n" + // 11
		"[ t . u ]\n" + // 12
		"k = { a = 1 }\n" + // 13
		"[[ p ]]\n" + // 14
		"k = 1\n" + // 15
		"[p.sub]\n" + // 16
		"k = 1\n" + // 17
		"[[p]] # second\n" + // 18
		"k = 2\n" + // 19
		"[p.sub]\n" + // 20
		"k = 2" // 21
	index := indexLines(text)
	for path, want := range map[string]int{
		"a": 2, "a.b": 2, `"q.x"`: 3, `"q.x".y`: 3, "a.c": 4, "s": 6,
		"l": 7, "l[0]": 7, "l[1]": 8, "l[2]": 9, "l[3]": 11, "l[2].z": 9, "l[4]": 7,
		"t": 12, "t.u": 12, "t.u.k": 13, "t.u.k.a": 13,
		"p[0]": 14, "p[0].k": 15, "p[0].sub.k": 17, "p[1]": 18, "p[1].k": 19, "p[1].sub": 20, "p[1].sub.k": 21,
		"p": 14, "nowhere": 0, "": 0,
	} {
		if got := index.of(path); got != want {
			t.Errorf("%s: line %d, want %d", path, got, want)
		}
	}
}

package history_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"termhost/ahp/history"
)

// programBytes returns what the compiled program of an expression takes: its instructions, and the
// ranges of characters, which some of them share.
func programBytes(t *testing.T, expr string) (bytes int) {
	t.Helper()
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*rune]struct{}{}
	for _, i := range prog.Inst {
		bytes += int(unsafe.Sizeof(i))
		if len(i.Rune) == 0 {
			continue
		}
		if _, shared := seen[&i.Rune[0]]; !shared {
			seen[&i.Rune[0]] = struct{}{}
			bytes += 4 * len(i.Rune)
		}
	}
	return bytes
}

func TestClassesOfCharactersCountInAPatternsBytes(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"", "a", "error", `\pL`, `\pL{1000}|zN`, `(?i)\pL{1000}|zN`, `^\pL{900}$`,
		strings.Repeat(`\pL`, 300), strings.Repeat(`\pL\PL`, 160), `(a|b*|(c+)?)*`, `((x{10}){10}){10}`,
		`[^x]{1000}`, `(?i)kelvin`, `(\pN\pL){400}`, `()|(|a)`, `[[:^ascii:]]{3,900}`} {
		e, err := history.ParseExpression(expr, false)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		least := programBytes(t, expr)
		if got := e.Bytes(); got < least || got > 4*least+4<<10 {
			t.Errorf("%.30s: %d bytes, and its program takes %d", expr, got, least)
		}
	}
}

// A pattern has anchors of lines in place of those of the text, and matches the same lines.
func TestAPatternMatchesTheLinesOfItsExpression(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"^", "$", `\A`, `\z`, "a", "b", "(?i:A)", ".", `\b`, "(?s:.)", "[^a]", "(?m:^)", "(?m:$)",
		"a*", "(a|$)", "(^|b)", "b{2}", `\pL{3}`, "|", "é", "(?-s:.)"}
	for range 3000 {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		expr := b.String()
		p, err := history.NewPattern(expr, false)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		plain := regexp.MustCompile(expr)
		for _, line := range []string{"", "a", "ab", "ba", "aab", "bbé", "A b", "xx", "abab éa"} {
			var block history.Block
			block.Set([]byte("x\n" + line + "\n"))
			start, _, err := p.Next(&work{}, &block, 2)
			if got := start == 2; err != nil || got != plain.MatchString(line) {
				t.Fatalf("%s matches %q: %v, %v", expr, line, got, err)
			}
			if m := plain.FindString(line); m != "" {
				if got, _ := p.Match(&work{}, []byte(line)); string(got) != m {
					t.Fatalf("%s in %q: %q, want %q", expr, line, got, m)
				}
			}
		}
	}
}

func TestMeasuresWhatPatternsTake(t *testing.T) {
	if os.Getenv("TERMHOST_MEASURE") == "" {
		t.Skip("TERMHOST_MEASURE is not set")
	}
	const count = 40
	for _, expr := range []string{`\pL{1000}|zN`, `(?i)\pL{1000}|zN`, `^\pL{990}$`, strings.Repeat(`\pL\PL`, 160)} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var kept []*history.Pattern
		told := 0
		for i := range count {
			e, err := history.ParseExpression(fmt.Sprint(expr, i), false)
			if err != nil {
				t.Fatal(err)
			}
			p, err := e.Compile()
			if err != nil {
				t.Fatal(err)
			}
			told += e.Bytes()
			kept = append(kept, p)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		takes := int(after.HeapAlloc) - int(before.HeapAlloc)
		t.Logf("%.20s takes %d KiB, and counts as %d", expr, takes/count>>10, told/count>>10)
		if takes > told*5/4 {
			t.Errorf("%.20s takes more than it counts as", expr)
		}
		runtime.KeepAlive(kept)
	}
}

package authz

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/matrix.golden anew")

// section is one part of the golden matrix: who asks, and which facts about the
// target are tried for each verb.
type section struct {
	title string
	alter func(*Principal)
	facts []fact
}

type fact struct {
	name string
	t    Target
}

func keyPrincipal(r Role) Principal {
	return Principal{ID: "SHA256:abc", Name: "alice", Role: r, Fingerprint: "SHA256:abc"}
}

func sections() []section {
	none := func(*Principal) {}
	return []section{
		{"server-executed terminal", none, []fact{
			{"-", Target{Executor: Server}},
			{"holds", Target{Executor: Server, Holds: true}},
			{"shared", Target{Executor: Server, InputShared: true}},
			{"owner", Target{Executor: Server, Owner: true}},
			{"forced", Target{Executor: Server, Forced: true}},
		}},
		{"client-executed terminal", none, []fact{
			{"-", Target{Executor: Client}},
			{"owner", Target{Executor: Client, Owner: true}},
			{"holds", Target{Executor: Client, Holds: true}},
			{"holds shared", Target{Executor: Client, Holds: true, InputShared: true}},
		}},
		{"executor unknown", none, []fact{{"all facts", Target{Holds: true, Owner: true, InputShared: true, Forced: true}}}},
		{"tokens", none, []fact{
			{"observer", Target{TokenRole: Observer}},
			{"operator", Target{TokenRole: Operator}},
			{"admin", Target{TokenRole: Admin}},
			{"no role", Target{}},
		}},
		{"asked with a token", func(p *Principal) { p.ID, p.Token = p.ID+"/ci", "ci" },
			[]fact{{"observer", Target{Executor: Server, TokenRole: Observer}}}},
		{"asked by a peer of the unix socket", func(p *Principal) { *p = Principal{ID: "uid:0", Name: "uid:0", Role: p.Role} },
			[]fact{{"holds", Target{Executor: Server, Holds: true, TokenRole: Observer}}}},
		{"read-only key (restrict, no-pty)", func(p *Principal) { p.ReadOnly = true }, []fact{
			{"holds", Target{Executor: Server, Holds: true, InputShared: true, Forced: true, TokenRole: Observer}},
			{"owner", Target{Executor: Client, Owner: true, TokenRole: Observer}},
		}},
		{"key with a forced command", func(p *Principal) { p.Command = "backup" }, []fact{
			{"holds", Target{Executor: Server, Holds: true, InputShared: true, TokenRole: Observer}},
			{"holds forced", Target{Executor: Server, Holds: true, Forced: true, TokenRole: Observer}},
		}},
		{"key with a forced command, and restrict", func(p *Principal) { p.Command, p.ReadOnly = "backup", true }, []fact{
			{"holds", Target{Executor: Server, Holds: true, InputShared: true, TokenRole: Observer}},
			{"holds forced", Target{Executor: Server, Holds: true, Forced: true, TokenRole: Observer}},
		}},
		{"key with no-port-forwarding", func(p *Principal) { p.NoForward = true },
			[]fact{{"holds", Target{Executor: Server, Holds: true, TokenRole: Observer}}}},
		{"nobody", func(p *Principal) { p.ID = "" },
			[]fact{{"all facts", Target{Executor: Server, Holds: true, Owner: true, InputShared: true, Forced: true, TokenRole: Observer}}}},
	}
}

// writeMatrix lists verb by verb what each role gets. Facts with the same
// answers share a line, and neighbouring verbs with the same lines share them.
func writeMatrix(b *bytes.Buffer) {
	for _, s := range sections() {
		fmt.Fprintf(b, "## %s\n\n", s.title)
		fmt.Fprintf(b, matrixColumns, "facts", "admin", "operator", "observer", "rule")
		var verbs []string
		for v := List; v < endOfVerbs; v++ {
			verbs = append(verbs, v.String())
			block := matrixBlock(s, v)
			if v+1 < endOfVerbs && matrixBlock(s, v+1) == block {
				continue
			}
			fmt.Fprintf(b, "%s:\n%s", strings.Join(verbs, ", "), block)
			verbs = nil
		}
		b.WriteByte('\n')
	}
}

// matrixBlock returns the lines of one verb. In the rules VERB stands for it.
func matrixBlock(s section, v Verb) string {
	var order []answers
	names := map[answers][]string{}
	for _, f := range s.facts {
		line := matrixLine(s, v, f)
		if names[line] == nil {
			order = append(order, line)
		}
		names[line] = append(names[line], f.name)
	}
	var b strings.Builder
	for _, line := range order {
		facts := strings.Join(names[line], " | ")
		if len(order) == 1 {
			facts = "any"
		}
		fmt.Fprintf(&b, matrixColumns, "  "+facts, line.admin, line.operator, line.observer, line.rules)
	}
	return b.String()
}

// matrixColumns lays out one line of the matrix.
const matrixColumns = "%-28s  %-5s  %-8s  %-8s  %s\n"

// answers is what the three roles get, and the rules that refuse.
type answers struct{ admin, operator, observer, rules string }

func matrixLine(s section, v Verb, f fact) answers {
	var cells, rules []string
	for _, r := range []Role{Admin, Operator, Observer} {
		p := keyPrincipal(r)
		s.alter(&p)
		var denied *Denied
		switch err := Check(p, v, f.t); {
		case err == nil:
			cells = append(cells, "yes")
		case errors.As(err, &denied):
			cells = append(cells, "no")
			rule := denied.Rule
			if rest, ok := strings.CutPrefix(rule, v.String()+" "); ok {
				rule = "VERB " + rest
			}
			if n := len(rules); n == 0 || rules[n-1] != rule {
				rules = append(rules, rule)
			}
		default:
			cells = append(cells, "?")
		}
	}
	return answers{cells[0], cells[1], cells[2], strings.Join(rules, "; ")}
}

func TestMatrixIsTheAgreedTable(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Who may do what: Check for every verb, role and set of facts.\n" +
		"# Written by go test ./authz -run Matrix -update; read every change of it.\n\n")
	writeMatrix(&b)
	got := stripTrailingSpace(b.String())
	file := filepath.Join("testdata", "matrix.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the matrix differs from %s; run with -update and read the difference\n%s", file, firstDifference(string(want), got))
	}
}

func stripTrailingSpace(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(w), len(g))
}

// The table must not depend on how complete its author was: every verb, known
// or not, gets an answer for every principal, and the answer is typed.
func TestEveryQuestionGetsATypedAnswer(t *testing.T) {
	for v := range Verb(255) {
		for r := range Role(6) {
			for _, e := range []Executor{UnknownExecutor, Server, Client, 77} {
				err := Check(keyPrincipal(r), v, Target{Executor: e, Holds: true, Owner: true, InputShared: true, TokenRole: r})
				var denied *Denied
				if err != nil && !errors.As(err, &denied) {
					t.Fatalf("Check(%v, %v, %v) = %v, want a *Denied", r, v, e, err)
				}
				known := v > noVerb && v < endOfVerbs && r >= Observer && r <= Admin
				if !known && err == nil {
					t.Fatalf("Check(role %d, verb %d) permits what it does not know", r, v)
				}
			}
		}
	}
}

func TestObserverChangesNothing(t *testing.T) {
	all := Target{Holds: true, Owner: true, InputShared: true, Forced: true, TokenRole: Observer}
	for v := List; v < endOfVerbs; v++ {
		for _, e := range []Executor{Server, Client} {
			all.Executor = e
			if err := Check(keyPrincipal(Observer), v, all); err == nil && !reads(v) && v != RevokeToken {
				t.Errorf("an observer may %s", v)
			}
		}
	}
}

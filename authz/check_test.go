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
	"time"
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
	held := Target{Executor: Server, Holds: true, TokenRole: Observer}
	shared, forced := held, held
	shared.InputShared, forced.Forced = true, true
	sharedForced := shared
	sharedForced.Forced = true
	all := sharedForced
	all.Owner = true
	return []section{
		{"server-executed terminal", none, []fact{
			{"-", Target{Executor: Server}},
			{"holds", Target{Executor: Server, Holds: true}},
			{"shared", Target{Executor: Server, InputShared: true}},
			{"holds by token", Target{Executor: Server, HoldsByToken: true}},
			{"made", Target{Executor: Server, Made: true}},
			{"owner", Target{Executor: Server, Owner: true}},
			{"forced", Target{Executor: Server, Forced: true}},
			{"piped holds shared", Target{Executor: Server, Holds: true, Piped: true, InputShared: true}},
		}},
		{"client-executed terminal", none, []fact{
			{"-", Target{Executor: Client}},
			{"owner", Target{Executor: Client, Owner: true}},
			{"holds", Target{Executor: Client, Holds: true}},
			{"holds shared", Target{Executor: Client, Holds: true, InputShared: true}},
		}},
		{"executor unknown", none, []fact{
			{"all facts", Target{Holds: true, Owner: true, InputShared: true, Forced: true}},
		}},
		{"tokens", none, []fact{
			{"observer", Target{TokenRole: Observer}},
			{"operator", Target{TokenRole: Operator}},
			{"admin", Target{TokenRole: Admin}},
			{"no role", Target{}},
		}},
		{"asked with a token", func(p *Principal) { p.ID, p.Token = p.ID+"/ci", "ci" },
			[]fact{{"observer", Target{Executor: Server, TokenRole: Observer}}}},
		{"asked by a page", func(p *Principal) { p.Token = pageName(p.Role); p.ID += "/" + p.Token },
			[]fact{
				{"-", Target{Executor: Server, TokenRole: Observer}},
				{"holds", held},
				{"its person holds", Target{Executor: Server, Yours: true, TokenRole: Observer}},
				{"its person's token holds", Target{Executor: Server, HoldsByToken: true,
					TokenRole: Observer}},
			}},
		{"asked by a page from inside a terminal", func(p *Principal) {
			p.Token, p.Inside = pageName(p.Role), true
		}, []fact{{"holds", held}}},
		{"asked from inside a terminal", func(p *Principal) { p.Inside = true },
			[]fact{{"holds", held}}},
		{"asked by a peer of the unix socket", func(p *Principal) {
			*p = Principal{ID: "uid:0", Name: "uid:0", Role: p.Role}
		}, []fact{{"holds", held}}},
		{"read-only key (restrict, no-pty)", func(p *Principal) { p.ReadOnly = true }, []fact{
			{"holds", sharedForced},
			{"owner", Target{Executor: Client, Owner: true, TokenRole: Observer}},
		}},
		{"key with a forced command", func(p *Principal) { p.Command = "backup" },
			[]fact{{"holds", shared}, {"holds forced", forced}}},
		{"key with a forced command, and restrict", func(p *Principal) {
			p.Command, p.ReadOnly = "backup", true
		}, []fact{{"holds", shared}, {"holds forced", forced}}},
		{"key with no-port-forwarding", func(p *Principal) { p.NoForward = true },
			[]fact{{"holds", held}}},
		{"key with restrict,port-forwarding", func(p *Principal) { p.ReadOnly, p.Forwards = true, true },
			[]fact{{"holds", held}}},
		{"key with permitopen and permitlisten", func(p *Principal) {
			p.Opens, p.Listens = "localhost:5432 db:*", "*:8080"
		}, []fact{
			{"localhost:5432", Target{Host: "localhost", Port: 5432}},
			{"db:1", Target{Host: "db", Port: 1}},
			{"other:8080", Target{Host: "other", Port: 8080}},
			{"localhost:80", Target{Host: "localhost", Port: 80}},
			{"ahp:80", Target{Host: "ahp", Port: 80}},
			{"a socket", Target{Socket: true}},
		}},
		{"key with no-agent-forwarding", func(p *Principal) { p.NoAgent = true },
			[]fact{{"holds", held}}},
		{"the host's own socket, from inside a terminal", func(p *Principal) { p.Inside = true },
			[]fact{{"-", Target{Socket: true, Private: true}}}},
		{"the host's own socket", none, []fact{{"-", Target{Socket: true, Private: true}}}},
		{"guest, of a terminal that it was invited to, and of others", func(p *Principal) {
			*p = Principal{ID: "guest:gwen:1", Name: "guest:gwen", Role: p.Role, Fingerprint: "SHA256:g",
				Guest: "1", Reach: ReachOf("build", time.Unix(1, 2)), NoForward: true}
		}, []fact{
			{"invited", Target{Executor: Server, Name: "build", Created: time.Unix(1, 2)}},
			{"invited, holds", Target{Executor: Server, Name: "build", Created: time.Unix(1, 2),
				Holds: true, TokenRole: Observer}},
			{"invited, client-executed, owner", Target{Executor: Client, Name: "build",
				Created: time.Unix(1, 2), Owner: true}},
			{"another of the NAME, holds", Target{Executor: Server, Name: "build",
				Created: time.Unix(1, 3), Holds: true}},
			{"hidden, all facts", Target{Executor: Server, Name: "buil", Created: time.Unix(1, 2),
				Holds: true, Owner: true, InputShared: true, Forced: true, TokenRole: Observer}},
			{"not named, holds", held},
		}},
		{"nobody", func(p *Principal) { p.ID = "" }, []fact{{"all facts", all}}},
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
		fmt.Fprintf(&b, matrixColumns, "  "+facts,
			line.admin, line.operator, line.observer, line.rules)
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
		t.Errorf("the matrix differs from %s; run with -update and read the difference\n%s",
			file, firstDifference(string(want), got))
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

// A gap in the tables must not be a hole: every verb, known or not, gets an answer for every
// principal, and the answer is typed.
func TestEveryQuestionGetsATypedAnswer(t *testing.T) {
	for v := range Verb(255) {
		for r := range Role(6) {
			for _, e := range []Executor{UnknownExecutor, Server, Client, 77} {
				err := Check(keyPrincipal(r), v, Target{
					Executor: e, Holds: true, Owner: true, InputShared: true, TokenRole: r,
				})
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
			err := Check(keyPrincipal(Observer), v, all)
			if err == nil && !reads(v) && v != RevokeToken && v != OpenPage {
				t.Errorf("an observer may %s", v)
			}
		}
	}
}

func TestRefusalsNameTheirRule(t *testing.T) {
	operator := keyPrincipal(Operator)
	for _, c := range []struct {
		v    Verb
		t    Target
		rule string
	}{
		{Input, Target{Executor: Server}, "input needs the claim"},
		{Input, Target{Executor: Client, Holds: true, Owner: true},
			"client-executed terminals are observation-only"},
		{Claim, Target{Executor: Server},
			"passing the claim on needs the claim; only an admin may seize it"},
		{Seize, Target{Executor: Server, Holds: true}, "only an admin may seize the claim"},
		{Output, Target{Executor: Client, Holds: true},
			"output of a client-executed terminal comes from its owner only"},
		{Dispose, Target{Executor: Client},
			"only its owner or an admin may dispose a client-executed terminal"},
		{MintToken, Target{TokenRole: Admin}, "a token may not have a higher role than its key"},
	} {
		var denied *Denied
		err := Check(operator, c.v, c.t)
		if !errors.As(err, &denied) || denied.Rule != c.rule || denied.Verb != c.v {
			t.Errorf("Check(%s) = %v, want the rule %q", c.v, err, c.rule)
		} else if err.Error() != "not permitted: "+c.rule {
			t.Errorf("message %q does not carry the rule", err)
		}
	}
}

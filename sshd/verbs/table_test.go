package verbs

import (
	"flag"
	"io"
	"regexp"
	"strings"
	"testing"

	"termhost/ptypool/vt/width"
	"termhost/sshd/verbs/helptext"
)

var flagInUsage = regexp.MustCompile(`(?:^|[\[| ])--?([A-Za-z][A-Za-z0-9-]*)`)

// The usage line is written by hand, so that it can show which flags go together.
func TestUsageNamesEveryFlagAndNoOther(t *testing.T) {
	for _, c := range table() {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.define(fs)
		in := map[string]bool{}
		for _, m := range flagInUsage.FindAllStringSubmatch(c.usage, -1) {
			in[m[1]] = true
		}
		fs.VisitAll(func(f *flag.Flag) {
			if !in[f.Name] {
				t.Errorf("%s: %s is not in its usage", c.name, helptext.Dashed(f.Name))
			}
			if f.Usage == "" {
				t.Errorf("%s: %s has no help", c.name, helptext.Dashed(f.Name))
			}
			delete(in, f.Name)
		})
		for name := range in {
			t.Errorf("%s: its usage has %s, which is no flag", c.name, helptext.Dashed(name))
		}
	}
}

func TestHelpOfAVerbExplainsItsFlags(t *testing.T) {
	r := newRunner(t)
	for command, want := range map[string]string{
		"new --help": `usage: termhost new [--on BOX|LABEL,...] [-n NAME] [-C DIR] [-d] [--guard] [--record]
        [--label K=V]... [-- CMD ARGS...]
make a terminal and attach to it (-d: print its NAME instead)
  -C DIR         the folder DIR that its program starts in
  -d             print its NAME instead of attaching to it
  --guard        what agents type into it waits for a person's approval
  --label K=V    give it a label K=V; more than one may be given
  -n NAME        its NAME; otherwise the host chooses one
  --on BOX       on another host of the fleet, a BOX, or the least loaded one that has all labels
  --record       record all that it shows, from the beginning on
for operators and admins
for example:
  termhost new -n build -C ~/src -- make -j4
  termhost new -d -n server -- ./serve
`,
		"wait -h": `usage: termhost wait [--match REGEX] [--idle D] [--command] [--blocked] [--all] [--timeout D]
        NAME... | -l SEL
wait for a line, a pause, a command, a question or the end of the first NAME (--all: the last),
print which if there are several, and exit with its status; 255: the connection or the host is lost
  --all          of several, until the last of them, not the first
  --blocked      until its program waits for somebody to type
  --command      until no command is running in its shell
  --idle D       until nothing has been printed for D, such as 2s
  -l SEL         only those with labels as SEL says: K=V, K!=V, K, !K, joined by commas
  --match REGEX  until a line matches REGEX (Go's syntax)
  --timeout D    for D at most; then the status is 124
for example:
  termhost wait build
  termhost wait --match '[0-9]+ passed' --timeout 5m build
  termhost wait --blocked --command build
  termhost wait --all build test
`,
	} {
		name, _, _ := strings.Cut(command, " ")
		for _, command := range []string{command, "help " + name} {
			if got := r.run(t, "", command); got != (outcome{want, "", 0}) {
				t.Errorf("%s: %+v\nwant %s", command, got, want)
			}
		}
		var b strings.Builder
		if WriteHelp(&b, name); b.String() != want {
			t.Errorf("without a host: %s", b.String())
		}
	}
}

// Whatever help says behind ssh fits into a window of 100 columns.
func TestHelpOfEveryVerbFitsIntoAWindow(t *testing.T) {
	r := newRunner(t)
	for _, c := range table() {
		behindSSH := c.described().Explain(func(text string) string { return text })
		for line := range strings.Lines(behindSSH + r.run(t, "", "help "+c.name).stdout) {
			if width.String(strings.TrimSuffix(line, "\n")) > helptext.Columns {
				t.Errorf("%s: too long: %s", c.name, line)
			}
		}
	}
}

// Package authz decides; the table only repeats its decisions.
func TestTheTableTellsWhoMay(t *testing.T) {
	who := map[string][]string{}
	for _, c := range table() {
		who[c.who()] = append(who[c.who()], c.name)
	}
	for roles, want := range map[string]string{
		"":                     "help ls top hosts attach log grep cast replay recordings peek wait events who asks status label tokens mcp page whoami completion version",
		"operators and admins": "new run share record send drop invite invites guard approve refuse rename rm token notify",
	} {
		if got := strings.Join(who[roles], " "); got != want {
			t.Errorf("for %q are %q, want %q", roles, got, want)
		}
	}
}

// The list of verbs is read at once: on a screen of 80x24.
func TestHelpNamesEveryVerbOnOneScreen(t *testing.T) {
	r := newRunner(t)
	r.Prefix = 0x1c
	got := r.run(t, "", "help")
	if got.status != 0 {
		t.Fatalf("got %+v", got)
	}
	for _, c := range table() {
		if !regexp.MustCompile(`(?m)(^| )`+c.name+` +`+regexp.QuoteMeta(c.brief)).
			MatchString(got.stdout) || c.brief == "" || len(c.brief) > briefColumn {
			t.Errorf("%s is missing, or what it does is too long", c.name)
		}
	}
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%q has %d columns", line, len(line))
		}
	}
	if len(lines) > 24 {
		t.Errorf("it has %d lines", len(lines))
	}
	t.Log("\n" + got.stdout)
}

// Examples that do not work teach what is wrong.
func TestExamplesAreUnderstood(t *testing.T) {
	for _, c := range table() {
		if len(c.examples) == 0 {
			t.Errorf("%s has no examples", c.name)
		}
		for _, e := range c.examples {
			_, line, found := strings.Cut(e, "ssh HOST ")
			if _, onTerminal, ok := strings.Cut(e, "ssh -t HOST "); ok {
				line, found = onTerminal, true
			}
			line, _, _ = strings.Cut(line, " | ")
			line, _, _ = strings.Cut(line, " <")
			l, err := parseLine(line)
			if !found || err != nil {
				t.Errorf("%s: %q: %v", c.name, e, err)
				continue
			}
			v := &invocation{Runner: &Runner{}, Caller: Caller{}, stdout: io.Discard}
			var errs strings.Builder
			v.stderr = &errs
			if !v.take(l, true) || v.verb.name != c.name {
				t.Errorf("%q is not of %s", e, c.name)
				continue
			}
			v.fs = flag.NewFlagSet(c.name, flag.ContinueOnError)
			v.fs.SetOutput(io.Discard)
			v.verb.define(v.fs)
			if _, done := v.parse(); done {
				t.Errorf("%q: %s", e, errs.String())
			}
		}
	}
}

func TestAVerbThatIsMeant(t *testing.T) {
	for word, want := range map[string]string{
		"atach": "attach", "lss": "ls", "att": "attach", "sned": "send", "list": "ls", "kill": "rm",
		"wh": "who", "send-keys": "send", "versoin": "version", "x": "", "": "", "uname": "", "sl": "",
	} {
		if got := meantBy(word); got != want {
			t.Errorf("%q means %q, want %q", word, got, want)
		}
	}
	r := newRunner(t)
	got := r.run(t, "", "help atach")
	if got.status != StatusUnknown || !strings.Contains(got.stderr, "did you mean attach?") {
		t.Errorf("help of a word that is none: %+v", got)
	}
	if got := r.run(t, "", "version"); got != (outcome{"termhost test\n", "", 0}) {
		t.Errorf("version: %+v", got)
	}
}

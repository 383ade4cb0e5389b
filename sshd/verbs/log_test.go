package verbs

import (
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

func TestALogWithoutItsBeginningSaysSo(t *testing.T) {
	t.Parallel()
	r := newRunner(t, func(c *host.Config) { c.ScrollbackBytes = 16 << 10 })
	r.run(t, "", "new -d -n short -- echo whole")
	r.run(t, "", "new -d -n long -- seq 100000")
	r.run(t, "", "wait --all short long")
	for _, form := range []string{"", "--text ", "--raw ", "--json "} {
		short, long := r.run(t, "", "log "+form+"short"), r.run(t, "", "log "+form+"long")
		if short.status != 0 || short.stderr != "" || strings.Contains(short.stdout, "truncated") {
			t.Errorf("log %sof all: %+v", form, short)
		}
		if long.status != 0 || !strings.Contains(long.stderr, "termhost: the beginning of long is gone") {
			t.Errorf("log %sof the rest: status %d, %q", form, long.status, long.stderr)
		}
		if says := strings.HasSuffix(long.stdout, `,"truncated":true}`+"\n"); says != (form == "--json ") {
			t.Errorf("log %sof the rest: %.200s", form, long.stdout)
		}
	}
}

func TestALogsPartsArePrinted(t *testing.T) {
	t.Parallel()
	r := newShell(t, "echo outside", `printf 'one\n\033[31mtwo\033[m\n' # make`, "true")
	commands := strings.Split(r.run(t, "", "log --commands sh").stdout, "\n")
	if len(commands) != 5 || !strings.HasSuffix(commands[2], "# make") {
		t.Fatalf("commands %q", commands)
	}
	all := r.run(t, "", "log sh").stdout
	lines := strings.SplitAfter(all, "\n")
	for _, c := range []struct{ line, want string }{
		{"log --command 2 sh", "one\ntwo\n"},
		{"log --command 2 --raw sh", "one\r\n\x1b[31mtwo\x1b[m\r\n"},
		{"log --command 2 --tail 1 sh", "two\n"},
		{"log --command 1 --text sh", "outside\n"},
		{"log --last sh", ""},
		{"log --last -f sh", ""},
		{"log --command 2 -f sh", "one\ntwo\n"},
		{"log --command 2 -f --raw sh", "one\r\n\x1b[31mtwo\x1b[m\r\n"},
		{"log --tail 3 sh", strings.Join(lines[len(lines)-4:], "")},
		{"log --tail 0 sh", ""},
		{"log --since 0s sh", ""},
		{"log --since 2099-01-01T00:00:00+02:00 sh", ""},
		{"log --since 1h --raw sh", r.run(t, "", "log --raw sh").stdout},
		{"log --since 2020-01-01T00:00:00Z sh", all},
		{"log --since 1h --commands sh", strings.Join(commands, "\n")},
		{"log --commands --tail 1 sh", commands[0] + "\n" + commands[3] + "\n"},
		{"log --since 0s --commands --json sh", "[]\n"},
	} {
		if got := r.run(t, "", c.line); untook(got.stdout) != untook(c.want) || got.status != 0 ||
			got.stderr != "" {
			t.Errorf("%s: %+v, want %q", c.line, got, c.want)
		}
	}
	if got := r.run(t, "", "log --json --command 1 sh").stdout; !strings.Contains(got,
		`"value":"outside\r\n"`) && !strings.Contains(got, `"output":"outside\r\n"`) ||
		strings.Contains(got, "two") {
		t.Errorf("the state is %s", got)
	}
	r.run(t, "", "new -d -n plain -- cat")
	for line, want := range map[string]string{
		"log --last --command 1 sh":     "ask for one of --last, --command and --since",
		"log --last --since 1m sh":      "ask for one of --last, --command and --since",
		"log --command 0 sh":            "a number from 1 on",
		"log --command x sh":            "a number from 1 on",
		"log --command 9 sh":            "there is no command 9: its log has 3",
		"log --tail -1 sh":              "a number from 0 on",
		"log --since yesterday sh":      "it is a duration, such as 90s",
		"log --since -5m sh":            "it is a duration, such as 90s",
		"log --json --tail 3 sh":        "--json has none",
		"log --commands --last sh":      "--last and --command are for the output of one",
		"log --last plain":              "does not tell of its commands\nhint: bash, zsh and fish",
		"log --last -f plain":           "does not tell of its commands\nhint: bash, zsh and fish",
		"log --commands --command 1 sh": "--last and --command are for the output of one",
	} {
		if got := r.run(t, "", line); got.status == 0 || got.stdout != "" ||
			!strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}

// untook takes the blanks out, which depend on how wide a column is.
func untook(table string) string {
	return took.ReplaceAllString(strings.Join(strings.Fields(table), " "), " T ")
}

// took is how long a command took, in a table.
var took = regexp.MustCompile(` [0-9.]+m?s `)

func TestALogIsFollowedToTheTerminalsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, want string }{
		{"-f", "begun\n1\n2\n3\nno end\n"},
		{"-f --text --tail 0", "1\n2\n3\nno end\n"},
		{"-f --since 1h", "begun\n1\n2\n3\nno end\n"},
		{"-f --raw", "begun\r\n1\r\n2\r\n3\r\nno end"},
		{"-f --raw --since 0s", "1\r\n2\r\n3\r\nno end"},
	} {
		r := newRunner(t)
		r.run(t, "", `new -d -n x -- sh -c 'stty -icanon -echo; echo begun; read x; seq 3; printf "no end"'`)
		r.run(t, "", "wait --match begun x")
		done := make(chan outcome)
		go func() { done <- r.run(t, "", "log "+c.flags+" x") }()
		hosttest.Eventually(t, "somebody follows", func() bool {
			return strings.Contains(r.run(t, "", "who x").stdout, "local") ||
				strings.Count(r.run(t, "", "who --json x").stdout, `"name"`) > 0
		})
		r.run(t, "", "send --enter x go")
		if got := <-done; got.stdout != c.want || got.status != 0 || got.stderr != "" {
			t.Errorf("log %s: %+v, want %q", c.flags, got, c.want)
		}
	}
}

func TestCommandsAndActionsAreFollowed(t *testing.T) {
	t.Parallel()
	r := newShell(t, "echo one")
	table, lines, actions := make(chan outcome), make(chan outcome), make(chan outcome)
	go func() { table <- r.run(t, "", "log --commands -f sh") }()
	go func() { lines <- r.run(t, "", "log --commands --json -f --tail 0 sh") }()
	go func() { actions <- r.run(t, "", "log --json -f sh") }()
	hosttest.Eventually(t, "three follow", func() bool {
		return strings.Count(r.run(t, "", "who --json sh").stdout, `"name"`) == 3
	})
	r.run(t, "", "send --enter sh -- '(exit 3)'")
	r.run(t, "", "wait --command sh")
	r.run(t, "", "send --enter sh exit")
	got := strings.Split((<-table).stdout, "\n")
	if len(got) != 5 || !strings.HasSuffix(got[1], "echo one") || !strings.HasSuffix(got[2], "(exit 3)") ||
		!strings.Contains(got[2], "  3  ") {
		t.Errorf("commands %q", got)
	}
	got = strings.Split((<-lines).stdout, "\n")
	if len(got) != 3 || !strings.Contains(got[0], `"line":"(exit 3)"`) ||
		!strings.Contains(got[0], `"exitCode":3`) || !strings.HasPrefix(got[1], `{"line":"exit"`) {
		t.Errorf("commands as JSON %q", got)
	}
	got = strings.Split((<-actions).stdout, "\n")
	if !strings.Contains(got[0], `"content":[`) || !strings.Contains(got[len(got)-2], `"terminal/exited"`) {
		t.Errorf("actions %q", got)
	}
}

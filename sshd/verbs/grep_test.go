package verbs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

var grepTime = regexp.MustCompile(`([:-])(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ)([:-])`)

// untimed returns what grep has printed with T for each time, which must be that of today's run.
func untimed(t *testing.T, out string) string {
	t.Helper()
	for _, m := range grepTime.FindAllStringSubmatch(out, -1) {
		at, err := time.Parse(time.RFC3339, m[2])
		if err != nil || time.Since(at).Abs() > time.Hour {
			t.Errorf("the time is %q", m[2])
		}
	}
	return grepTime.ReplaceAllString(out, "${1}T${3}")
}

func TestGrepFindsLinesOfAllTerminals(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.run(t, "", `new -d -n long -- printf '%0200d needle in a wrapped line\nmore\n' 7`)
	r.run(t, "", `new -d -n colour -- printf 'a \033[31mnee\033[1mdle\033[m\r\n10%%\r100%%\n'`)
	r.run(t, "", `new -d -n other -- seq 1000`)
	r.run(t, "", "wait --all long colour other")
	zeros := strings.Repeat("0", 199)
	for _, c := range []struct {
		line, want string
		status     int
	}{
		{"grep needle", "long:T:" + zeros + "7 needle in a wrapped line\ncolour:T:a needle\n", 0},
		{"grep -i NEEDLE colour", "colour:T:a needle\n", 0},
		{"grep NEEDLE", "", 1},
		{`grep '^100%$'`, "colour:T:100%\n", 0},
		{`grep '^99\d$' other`, "other:T:990\nother:T:991\nother:T:992\nother:T:993\nother:T:994\n" +
			"other:T:995\nother:T:996\nother:T:997\nother:T:998\nother:T:999\n", 0},
		{`grep ^55\d$ -C 0 other colour`, "other:T:550\nother:T:551\nother:T:552\nother:T:553\n" +
			"other:T:554\nother:T:555\nother:T:556\nother:T:557\nother:T:558\nother:T:559\n", 0},
		{`grep -- ^1\d00$`, "other:T:1000\n", 0},
		{`grep ^1\d00$ other other`, "other:T:1000\n", 0}, // searched once
		{`grep -C 1 '^(1|4|501|1000)$'`, "other:T:1\nother-T-2\nother-T-3\nother:T:4\nother-T-5\n--\n" +
			"other-T-500\nother:T:501\nother-T-502\n--\nother-T-999\nother:T:1000\n", 0},
		{`grep -C 1 '^(2|4|7)$' other`, "other-T-1\nother:T:2\nother-T-3\nother:T:4\nother-T-5\n" +
			"other-T-6\nother:T:7\nother-T-8\n", 0},
		{`grep -C 2 '(?i)NEEDLE|^100%$'`, "long:T:" + zeros + "7 needle in a wrapped line\nlong-T-more\n" +
			"--\ncolour:T:a needle\ncolour:T:100%\n", 0},
	} {
		got := r.run(t, "", c.line)
		if out := untimed(t, got.stdout); out != c.want || got.status != c.status || got.stderr != "" {
			t.Errorf("%s: status %d, %q\n%s\nwant\n%s", c.line, got.status, got.stderr, out, c.want)
		}
	}
	for _, line := range []string{"grep '(' long", "grep x nobody", "grep -C -1 x", "grep", "grep -x y"} {
		if got := r.run(t, "", line); got.status != 2 || got.stdout != "" || got.stderr == "" {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// newShell returns a runner on a host with a terminal named sh, in which bash has run the lines.
func newShell(t *testing.T, lines ...string) *testRunner {
	t.Helper()
	home := t.TempDir()
	const prompt = "ready> "
	rc := []byte("PS1='" + prompt + "'\n")
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), rc, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, func(c *host.Config) {
		c.Shell, c.ShellIntegration = "/bin/bash", true
		c.Env = map[string]string{"HOME": home}
	})
	r.run(t, "", "new -d -n sh")
	prompts := func(want int) { // and nothing is printed any more
		hosttest.Eventually(t, "a prompt", func() bool {
			return strings.Count(r.run(t, "", "log --raw sh").stdout, prompt) == want
		})
	}
	prompts(1)
	for i, line := range lines {
		r.run(t, "", "send --enter sh -- '"+strings.ReplaceAll(line, "'", `'\''`)+"'")
		if got := r.run(t, "", "wait --command --timeout 30s sh"); got.status == 124 {
			t.Fatalf("%s: %+v", line, got)
		}
		prompts(i + 2)
	}
	return r
}

func TestGrepOfACommand(t *testing.T) {
	t.Parallel()
	r := newShell(t, "echo outside", `printf 'making it\nfailed: one\n' # make`, "echo outside")
	for line, want := range map[string]string{
		"grep --command make failed:":           "sh:T:failed: one\n",
		"grep --command '# make' -C 1 failed:":  "sh-T-making it\nsh:T:failed: one\n",
		"grep --command made failed:":           "",
		"grep --command make outside":           "",
		"grep '^outside'":                       "sh:T:outside\nsh:T:outside\n",
		"grep -C 5 --command '# make' '^faile'": "sh-T-making it\nsh:T:failed: one\n",
	} {
		got := r.run(t, "", line)
		if out := untimed(t, got.stdout); out != want || (got.status == 0) != (want != "") {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}

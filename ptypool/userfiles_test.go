package ptypool

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/shellinit"
)

// read returns a file of the shell's home; "" if it does not exist.
func (sh *shell) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(sh.home, name))
	return string(text)
}

// quit ends the shell the usual way.
func (sh *shell) quit() {
	sh.t.Helper()
	sh.type_("exit\n")
	if _, err := sh.b.Wait(); err != nil {
		sh.t.Fatal(err)
	}
}

// settings makes a shell print all that a start-up file could have changed.
var settings = map[string]string{
	"bash": "{ shopt; set -o; env | sort; alias; trap; " +
		"declare -p HISTFILE SHELLOPTS BASHOPTS PS2 PS4; type true; echo $0; }",
	"zsh": "{ setopt; env | sort; alias; trap; typeset -p HISTFILE ZDOTDIR PS2 PS4; echo $0; }",
	"fish": "begin; env | sort; alias; functions -n | string split ,; " +
		"set -S XDG_DATA_DIRS fish_features; status is-login; echo $status; end",
}

// varying is what differs between two shells anyway, or is ours by design.
var varying = regexp.MustCompile(`(?m)^.*(` + regexp.QuoteMeta(os.TempDir()) +
	`/|TERMHOST_TERMINAL|__termhost|_=).*\n`)

func TestTheUsersFilesRunAsWithoutIntegration(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{".bash_profile", ".bash_login", ".profile", ".bashrc", ".zshenv",
		".zprofile", ".zshrc", ".zlogin", ".config/fish/conf.d/a.fish",
		".config/fish/config.fish"} {
		files[name] = "echo " + name + " >>ran.txt\nalias ll='ls -l'\n"
		if !strings.HasSuffix(name, ".fish") {
			canary := regexp.MustCompile(`\W`).ReplaceAllString(name, "_")
			files[name] += "export CANARY_" + canary + "=1\n"
		}
	}
	eachShell(t, func(t *testing.T, s shellSpec) {
		s.files = files
		plain := s
		plain.plain = true
		var ran, state [2]string
		for i, spec := range []shellSpec{plain, s} {
			sh := startShell(t, spec)
			sh.type_(settings[s.name] + " >state.txt 2>&1; echo o''k\n")
			sh.text("ok\r\n")
			ran[i] = sh.read("ran.txt")
			state[i] = varying.ReplaceAllString(sh.read("state.txt"), "")
		}
		if ran[0] != ran[1] || ran[0] == "" {
			t.Errorf("files read without: %q, with: %q", ran[0], ran[1])
		}
		if state[0] != state[1] || state[0] == "" {
			t.Errorf("settings without:\n%s\nwith:\n%s", state[0], state[1])
		}
	})
}

func TestZshReadsTheFilesInTheUsersZDOTDIR(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]shellSpec{
		"set by .zshenv": {
			files: map[string]string{".zshenv": "ZDOTDIR=~/dot", "dot/.zshrc": "ran=1"},
		},
		"set by the host": {
			files: map[string]string{"dot/.zshenv": "env=1", "dot/.zshrc": "ran=$env"},
			env:   []string{"ZDOTDIR=dot"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.name = "zsh"
			sh := startShell(t, s)
			sh.run("echo ran=$ran ${ZDOTDIR:t}")
			sh.text("ran=1 dot")
		})
	}
}

func TestBashHistoryIsUntouched(t *testing.T) {
	t.Parallel()
	typed := []string{"echo one", "echo one", " echo space", "echo two", "cd", "ignored x",
		"echo two", "echo 'a\nb'"}
	for _, control := range []string{"", "ignoreboth", "ignorespace", "ignoredups", "erasedups",
		"ignorespace:erasedups"} {
		for _, login := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,login=%v", control, login), func(t *testing.T) {
				t.Parallel()
				if login {
					slowtest.Skip(t)
				}
				rc := "HISTCONTROL=" + control + "\nHISTIGNORE='ignored*'\nHISTTIMEFORMAT='%F '\n"
				files := map[string]string{".bashrc": rc, ".bash_profile": rc}
				s := shellSpec{name: "bash", login: login, plain: true, files: files}
				stamps := regexp.MustCompile(`(?m)^#\d+\n`)
				var history [2]string
				for i := range history {
					sh := startShell(t, s)
					for j, line := range typed {
						sh.type_(line + "\n")
						sh.type_(fmt.Sprintf("echo d''one%d\n", j))
						sh.text(fmt.Sprintf("done%d\r\n", j))
					}
					sh.quit()
					history[i] = stamps.ReplaceAllString(sh.read(".bash_history"), "")
					s.plain = false
				}
				if history[0] != history[1] || history[0] == "" {
					t.Errorf("history without:\n%s\nwith:\n%s", history[0], history[1])
				}
			})
		}
	}
}

func TestBashCommandLinesAreTrueOrMissing(t *testing.T) {
	t.Parallel()
	missing := func(code int) []string { return []string{"C", fmt.Sprintf("D;%d", code), "A"} }
	for _, c := range []struct {
		rc, first, second string
		want              []string
	}{
		{"", "true", "true", command("true", 0)},
		{"HISTCONTROL=ignoredups", "true", "true", command("true", 0)},
		{"HISTCONTROL=ignoredups", "true", " true", command(" true", 0)},
		{"HISTCONTROL=erasedups", "true", "true", command("true", 0)},
		{"HISTCONTROL=ignorespace", "true", " false", missing(1)},
		{"HISTCONTROL=ignoreboth", "true", " false", missing(1)},
		{"HISTCONTROL=ignoreboth", "true", "true", missing(0)}, // could be a hidden one: see Again
		{"HISTCONTROL=ignoreboth", "true", "false", command("false", 1)},
		{"HISTIGNORE='fa*'", "true", "false", missing(1)},
		{"set +o history", "true", "false", missing(1)},
		{"HISTSIZE=2", "true", "false", command("false", 1)},
		{"HISTSIZE=0", "true", "false", missing(1)},
		{"HISTTIMEFORMAT='%s '", "true", "echo   12  x", command("echo   12  x", 0)},
		{"PROMPT_COMMAND='history -a; history -c; history -r'", "true", "false",
			command("false", 1)},
		{"readonly HISTTIMEFORMAT='%s '", "true", "false", nil},
	} {
		t.Run(fmt.Sprintf("%s; %s; %s", c.rc, c.first, c.second), func(t *testing.T) {
			t.Parallel()
			sh := startShell(t, shellSpec{name: "bash", files: map[string]string{".bashrc": c.rc}})
			sh.run(c.first)
			got := sh.run(c.second)
			if c.want != nil && fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestBashPromptsOfTheUserAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rc string
		// see is a regular expression that the output of "false" and the next prompt must match.
		see string
	}{
		{"PROMPT_COMMAND sees the status", `PROMPT_COMMAND='echo "status $? ${PIPESTATUS[0]}"'`,
			`status 1 1\r\n`},
		{"array", `PROMPT_COMMAND=('echo "a $?"' 'echo "b $?"')`, `a 1\r\nb 1\r\n`},
		{"exported", `export PROMPT_COMMAND='echo "status $?"'`, `status 1\r\n`},
		{"PS0", `PS0='ps0 \u\n'`, `ps0 \w+\r+\n.*633;C`},
		{"PS0 without promptvars", `shopt -u promptvars; PS0='ps0\n'`, `ps0\r+\n.*633;C`},
		{"PS1", `PS1='<$?>'`, `<1>`},
		{"PS1 made anew", `PROMPT_COMMAND='PS1="<$?>"'`, `<1>`},
		{"PS1 grows", `PROMPT_COMMAND='PS1="x$PS1"'; PS1='$ '`, `xx+\$ `},
		{"DEBUG trap", `trap 'last=$BASH_COMMAND' DEBUG; PROMPT_COMMAND='echo "timer $last"'`,
			`timer `},
		{"set -u", `set -u`, `D;1`},
		{"set -eu", `set -u; PROMPT_COMMAND='set +e'; PS1='$ '`, `D;1`},
		{"set -x", `set -x`, `D;1`},
		{"IFS", `IFS=3x`, `D;1`},
		{"nounset PS0", `unset PS0 PS1 PROMPT_COMMAND; set -u`, `D;1`},
		{"extdebug", `shopt -s extdebug`, `D;1`},
		{"functrace", `set -T; trap : DEBUG`, `D;1`},
		{"aliases", `alias local=echo printf=echo '[[=echo' builtin=echo history=echo`, `D;1`},
		{"functions", `printf() { echo bad; }; history() { echo bad; }
			trap() { echo bad; }; unset -f trap`, `D;1`},
		{"nocasematch", `shopt -s nocasematch extglob nullglob failglob`, `D;1`},
	} {
		for _, s := range []shellSpec{{}, {login: true}, {old: true}} {
			t.Run(fmt.Sprintf("%s,login=%v,old=%v", c.name, s.login, s.old), func(t *testing.T) {
				t.Parallel()
				if s.login || s.old {
					slowtest.Skip(t)
				}
				has := func(s string) bool { return strings.Contains(c.name, s) }
				if s.old && (has("array") || has("sees")) {
					t.Skip("it has no array, and no PIPESTATUS for a second command")
				}
				s.name, s.files = "bash", map[string]string{".bashrc": c.rc, ".bash_profile": c.rc}
				sh := startShell(t, s)
				before := len(sh.out)
				got := sh.run("false")
				// What is typed before this is seen would be echoed in the middle of it.
				see := regexp.MustCompile(`(?s)` + c.see)
				sh.until(c.see, func() bool { return see.Match(sh.out[before:]) })
				sh.type_("echo n''ext\n")
				sh.text("next\r\n")
				out := string(sh.out[before:])
				if strings.Contains(out, "unbound") || strings.Contains(out, "bad") {
					t.Errorf("the shell complains: %q", out)
				}
				for i, want := range command("false", 1) {
					if i == 0 && has("without promptvars") {
						continue
					}
					if !strings.Contains(strings.Join(got, "\n")+"\n", want+"\n") {
						t.Errorf("marks %q", got)
					}
				}
			})
		}
	}
}

func TestTheBashTimerIdiomKeepsWorking(t *testing.T) {
	rc := `timer_start() { timer=${timer:-started}; echo "start $BASH_COMMAND" >>log; }
timer_stop() { echo "stop $timer" >>log; unset timer; }
trap timer_start DEBUG
PROMPT_COMMAND=timer_stop
`
	files := map[string]string{".bashrc": rc}
	var log [2]string
	for i, plain := range []bool{true, false} {
		sh := startShell(t, shellSpec{name: "bash", plain: plain, files: files})
		sh.type_("echo on''e\n")
		sh.text("one\r\n")
		sh.type_(": >log; echo tw''o\n")
		sh.text("two\r\n")
		sh.type_("echo thre''e\n")
		sh.text("three\r\n")
		sh.quit()
		log[i] = strings.ReplaceAll(sh.read("log"), "start __termhost_first\n", "")
	}
	if log[0] != log[1] || log[0] == "" {
		t.Errorf("log without:\n%s\nwith:\n%s", log[0], log[1])
	}
}

func TestBashLogoutRuns(t *testing.T) {
	files := map[string]string{".bash_logout": "echo out >logout.txt"}
	sh := startShell(t, shellSpec{name: "bash", login: true, files: files})
	sh.type_("logout\n")
	if _, err := sh.b.Wait(); err != nil {
		t.Fatal(err)
	}
	if sh.read("logout.txt") != "out\n" {
		t.Error(".bash_logout did not run")
	}
}

func TestZshPromptsOfTheUserAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rc, see string }{
		{"precmd sees the status", `precmd() { echo "status $?" }`, `status 1\r\n`},
		{"precmd_functions", `p() { echo "status $?" }; precmd_functions+=(p)`, `status 1\r\n`},
		{"PS1 made anew", `precmd() { PS1="<$?>" }`, `<1>`},
		{"PS1 made anew by a late hook", `p() { PS1="<$?>" }; precmd_functions+=(p)`,
			`<1>`},
		{"no_unset", `setopt no_unset`, `D;1`},
		{"options", `setopt ksh_arrays sh_word_split extended_glob no_prompt_percent null_glob
			setopt warn_create_global`, `D;1`},
		{"aliases", `alias emulate=echo local=echo builtin=echo; alias -g C=bad`, `D;1`},
		{"no history", `unset HISTFILE; HISTSIZE=0; setopt hist_ignore_space`, `D;1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sh := startShell(t, shellSpec{name: "zsh", files: map[string]string{".zshrc": c.rc}})
			sh.run("true")
			before := len(sh.out)
			got := sh.run("false")
			sh.type_("echo n''ext\n")
			sh.text("next\r\n")
			out := string(sh.out[before:])
			if !regexp.MustCompile(`(?s)` + c.see).MatchString(out) {
				t.Errorf("output %q does not match %s", out, c.see)
			}
			if strings.Contains(out, "not set") || strings.Contains(out, "bad") {
				t.Errorf("the shell complains: %q", out)
			}
			if fmt.Sprint(got) != fmt.Sprint(command("false", 1)) {
				t.Errorf("marks %q", got)
			}
		})
	}
}

func TestApplyLeavesOtherShellsAlone(t *testing.T) {
	in := shellinit.Scripts{Dir: t.TempDir()}
	env := []string{"A=b"}
	if _, _, _, ok := in.Apply("/bin/bash", false, env); ok {
		t.Error("applied what is not installed")
	}
	if err := in.Install(); err != nil {
		t.Fatal(err)
	}
	if err := in.Install(); err != nil {
		t.Error("second time:", err)
	}
	for _, shell := range []string{"/bin/sh", "/bin/dash", "/usr/bin/nu", "rbash", ""} {
		if _, _, _, ok := in.Apply(shell, false, env); ok {
			t.Errorf("applied to %s", shell)
		}
	}
	_, _, _, ok := in.Apply("/usr/local/bin/bash", false, env)
	if !ok || fmt.Sprint(env) != "[A=b]" {
		t.Errorf("bash: %v, environment of the caller: %q", ok, env)
	}
	err := filepath.WalkDir(in.Dir, func(path string, d os.DirEntry, err error) error {
		if fi, ierr := d.Info(); err == nil && ierr == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"", "relative", "/with:colon"} {
		if err := (shellinit.Scripts{Dir: dir}).Install(); err == nil {
			t.Errorf("installed into %q", dir)
		}
	}
}

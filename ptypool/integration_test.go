package ptypool

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/nonce"
	"termhost/ptypool/shellinit"
)

// shell is an interactive shell on a pty, read without a parser so that a test sees the marks
// themselves.
type shell struct {
	t    *testing.T
	b    *ptyBackend
	out  []byte
	home string
	// nonce ends its marks: a test reads them unsealed.
	nonce string
}

// shellSpec says which shell to start, and with which files in its home.
type shellSpec struct {
	name  string // "bash", "zsh", "fish"
	login bool
	files map[string]string
	env   []string
	plain bool // without integration
	old   bool // bash as before 5.1, whose PROMPT_COMMAND is one string
}

// startShell starts the shell and returns at its first prompt.
func startShell(t *testing.T, s shellSpec) *shell {
	t.Helper()
	path := slowtest.Program(t, s.name)
	sh := &shell{t: t, home: t.TempDir()}
	for name, text := range s.files {
		file := filepath.Join(sh.home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ann := Account{Name: "ann", UID: 1000, Home: sh.home, Shell: path}
	extra := append([]string{"XDG_RUNTIME_DIR=" + sh.home}, s.env...) // fish writes there
	env := Env(EnvSpec{Account: ann, Root: t.TempDir(), Term: "xterm-256color", Extra: extra})
	spec := Spec{Argv: []string{path}, Env: env, Dir: sh.home, Cols: 200, Rows: 50}
	if s.login {
		spec.Argv0 = "-" + s.name
	}
	if !s.plain {
		in := shellinit.Scripts{Dir: filepath.Join(t.TempDir(), "shell init")}
		if err := in.Install(); err != nil {
			t.Fatal(err)
		}
		if s.old {
			script := filepath.Join(in.Dir, "bash", "init.bash")
			text, err := os.ReadFile(script)
			if err == nil {
				never := bytes.ReplaceAll(text, []byte(">= 501"), []byte(">= 9999"))
				err = os.WriteFile(script, never, 0o600)
			}
			if err != nil || !bytes.Contains(text, []byte(">= 501")) {
				t.Fatal("the script does not ask for 5.1", err)
			}
		}
		var ok bool
		if spec.Argv, spec.Env, spec.Grant, ok = in.Apply(path, s.login, env); !ok {
			t.Fatalf("no integration for %s", path)
		}
		sh.nonce = nonce.Of(spec.Grant.Secret)
	}
	var err error
	if sh.b, err = startPTY(&spec, newReaper(slog.New(slog.DiscardHandler))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		wait(t, "the shell's end", sh.b.Hangup(0))
		sh.b.Close()
	})
	if !s.plain {
		sh.until("the first prompt", func() bool { return sh.count("A") > 0 })
	}
	return sh
}

// until reads until cond holds.
func (sh *shell) until(what string, cond func() bool) {
	sh.t.Helper()
	buf := make([]byte, readSize)
	for !cond() {
		sh.b.fdReader.watch.setDeadline(time.Now().Add(patience))
		err := sh.b.fdReader.watch.wait(sh.b.ready)
		n := 0
		if err == nil {
			n, err = sh.b.Read(buf)
		}
		if err != nil {
			sh.t.Fatalf("no %s: %v\n%q", what, err, sh.out)
		}
		sh.out = append(sh.out, buf[:n]...)
	}
}

func (sh *shell) text(s string) {
	sh.t.Helper()
	sh.until(s, func() bool { return strings.Contains(string(sh.out), s) })
}

func (sh *shell) type_(s string) {
	sh.t.Helper()
	for len(s) > 0 {
		n, err := sh.b.Write([]byte(s))
		if err != nil {
			sh.t.Fatal(err)
		}
		s = s[n:]
	}
}

// run types a line and returns at the next prompt, with the marks that came since the last one.
func (sh *shell) run(line string) []string {
	sh.t.Helper()
	before, prompts := len(sh.marks()), sh.count("A")
	sh.type_(line + "\n")
	sh.until("prompt after "+line, func() bool { return sh.count("A") > prompts })
	return sh.marks()[before:]
}

// markOSC is one OSC 633 mark. Directories, which come with every prompt, are looked at apart.
var markOSC = regexp.MustCompile("\x1b\\]633;([^\a]*)\a")

// marks returns the marks so far, without P and without the nonce that each must end with.
func (sh *shell) marks() (found []string) {
	for _, m := range markOSC.FindAllSubmatch(sh.out, -1) {
		mark, ok := strings.CutSuffix(string(m[1]), ";"+sh.nonce)
		if !ok {
			mark += " without the nonce"
		}
		if !strings.HasPrefix(mark, "P;") || !ok {
			found = append(found, mark)
		}
	}
	return found
}

func (sh *shell) count(mark string) int {
	return strings.Count(string(sh.out), "\x1b]633;"+mark+";"+sh.nonce+"\a")
}

// command returns the marks of one command.
func command(line string, code int) []string {
	return []string{"E;" + line, "C", fmt.Sprintf("D;%d", code), "A"}
}

func (sh *shell) expect(line string, want []string) {
	sh.t.Helper()
	if got := sh.run(line); fmt.Sprint(got) != fmt.Sprint(want) {
		sh.t.Errorf("%q marks\n%q, want\n%q", line, got, want)
	}
}

// eachShell runs a test for every shell, as a login shell and not.
func eachShell(t *testing.T, test func(t *testing.T, s shellSpec)) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		for _, login := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,login=%v", name, login), func(t *testing.T) {
				t.Parallel()
				test(t, shellSpec{name: name, login: login})
			})
		}
	}
}

func TestCommandsAreMarked(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, s shellSpec) {
		sh := startShell(t, s)
		sh.expect("true", command("true", 0))
		sh.expect("false", command("false", 1))
		sh.expect("sh -c 'exit 42'", command("sh -c 'exit 42'", 42))
		sh.expect("", []string{"A"})
		sh.expect(`echo 'a;b' "c\\d" 'grüße €'`, command(`echo 'a\x3bb' "c\\\\d" 'grüße €'`, 0))
		sh.text("a;b c\\d grüße €")
		sh.expect("sh -c 'kill -TERM $$'", command("sh -c 'kill -TERM $$'", 143))
		sh.expect("no-such-command-here", command("no-such-command-here", 127))
		sh.expect("cd /tmp", command("cd /tmp", 0))
		if !strings.Contains(string(sh.out), "\x1b]633;P;Cwd=/tmp;"+sh.nonce+"\a") {
			t.Error("the directory is not told")
		}
	})
}

func TestCommandLinesOfSeveralLinesAreReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shell, typed, line string }{
		// As bash's history has it:
		{"bash", "for i in 1 2; do\necho n$i\ndone", `for i in 1 2\x3b do echo n$i\x3b done`},
		{"bash", "echo 'one\ntwo'", `echo 'one\x0atwo'`},
		{"zsh", "for i in 1 2; do\necho n$i\ndone", `for i in 1 2\x3b do\x0aecho n$i\x0adone`},
		{"fish", "for i in 1 2\necho n$i\nend", `for i in 1 2\x0aecho n$i\x0aend`},
	} {
		t.Run(c.shell, func(t *testing.T) {
			sh := startShell(t, shellSpec{name: c.shell})
			if c.shell == "zsh" || c.shell == "fish" {
				sh.run(":") // the line editor is up
			}
			got := sh.run(c.typed)
			if fmt.Sprint(got) != fmt.Sprint(command(c.line, 0)) {
				t.Errorf("marks %q, want the line %q", got, c.line)
			}
		})
	}
}

func TestTheNonceAndTheHelpersStayInTheShell(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, s shellSpec) {
		s.env = []string{"ZDOTDIR=", "XDG_DATA_DIRS=/some/where:/usr/share", "ENV=/my/env"}
		if s.name == "zsh" {
			s.env = nil
		}
		sh := startShell(t, s)
		sh.run("env | sort >env.txt")
		env, err := os.ReadFile(filepath.Join(sh.home, "env.txt"))
		if err != nil {
			t.Fatal(err)
		}
		text := "\n" + string(env)
		for _, bad := range []string{sh.nonce, "NONCE", "TERMHOST_ZDOTDIR", "TERMHOST_XDG",
			"TERMHOST_ENV", "]633", "__termhost", "POSIXLY"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s is in the environment:\n%s", bad, text)
			}
		}
		if s.name != "zsh" && (!strings.Contains(text, "XDG_DATA_DIRS=/some/where:/usr/share\n") ||
			!strings.Contains(text, "\nENV=/my/env\n")) {
			t.Errorf("variables were changed:\n%s", text)
		}
		if s.name == "zsh" && strings.Contains(text, "ZDOTDIR") {
			t.Errorf("ZDOTDIR is set:\n%s", text)
		}
	})
}

// A trace may go to a file, which programs may read. So may all that bash prints itself: its prompts.
func TestATraceOfTheShellHasNoNonce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, shell, on, off string }{
		{"bash", "bash", "exec 7>trace; BASH_XTRACEFD=7; set -x; set -a", "set +x"},
		{"bash's errors", "bash", "exec 2>trace; set -x; set -a", "set +x"},
		{"bash without promptvars", "bash", "shopt -u promptvars\nexec 2>trace; set -x", "set +x"},
		{"zsh", "zsh", "exec 2>trace; set -x; set -a", "set +x"},
		{"fish", "fish", "set -g fish_trace all", "__termhost_postexec; set -e fish_trace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			slowtest.Program(t, c.shell)
			sh := startShell(t, shellSpec{name: c.shell, env: []string{"FISH_DEBUG_OUTPUT=trace"}})
			for _, line := range strings.Split(c.on, "\n") {
				sh.run(line)
			}
			if c.name == "bash without promptvars" {
				sh.run("sh -c 'exit 5'")
			} else {
				sh.expect("sh -c 'exit 5'", command("sh -c 'exit 5'", 5))
			}
			sh.run("true; " + c.off + "; env >>trace")
			trace, err := os.ReadFile(filepath.Join(sh.home, "trace"))
			if err != nil || !strings.Contains(string(trace), "exit 5") ||
				strings.Contains(string(trace), sh.nonce) {
				t.Errorf("the trace is %v\n%s", err, trace)
			}
		})
	}
}

func TestAShellInsideTheShellIsSilent(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, s shellSpec) {
		sh := startShell(t, s)
		for _, inner := range []string{"bash", "zsh -f", "fish --no-config"} {
			t.Run(inner, func(t *testing.T) {
				slowtest.Program(t, strings.Fields(inner)[0])
				sh.t = t
				sh.nest(inner)
			})
		}
	})
}

func TestAnExportedPromptDoesNotSpeakInAnInnerBash(t *testing.T) {
	t.Parallel()
	for i, extra := range []string{"", "; set -a", "; set -u; export SHELLOPTS", ""} {
		files := map[string]string{".bashrc": "PROMPT_COMMAND=:"}
		sh := startShell(t, shellSpec{name: "bash", old: i == 3, files: files})
		sh.run("export PS1 PS0 PROMPT_COMMAND" + extra)
		sh.nest("bash --norc")
		out := string(sh.out)
		if strings.Contains(out, "__termhost") || strings.Contains(out, "unbound") {
			t.Errorf("an inner shell spoke of it: %q", out)
		}
	}
}

// nest runs a shell inside the shell, which must be silent.
func (sh *shell) nest(inner string) {
	sh.t.Helper()
	before, prompts := len(sh.marks()), sh.count("A")
	sh.type_(inner + "\n")
	sh.until("the inner shell", func() bool { return len(sh.marks()) == before+2 })
	sh.type_("echo in''side\n")
	sh.text("inside")
	sh.out = []byte(strings.ReplaceAll(string(sh.out), "inside", ""))
	sh.type_("exit 0\n")
	sh.until("the outer prompt", func() bool { return sh.count("A") > prompts })
	if got, want := sh.marks()[before:], command(inner, 0); fmt.Sprint(got) != fmt.Sprint(want) {
		sh.t.Errorf("marks around %s: %q", inner, got)
	}
}

func TestCommandsAreMarkedAfterTheHooksWereSetAnew(t *testing.T) {
	t.Parallel()
	bash := []string{"PROMPT_COMMAND=:", "PROMPT_COMMAND=()", "unset PROMPT_COMMAND", "PS0=",
		"PS1='> '", "trap - DEBUG", "trap : DEBUG", "PROMPT_COMMAND=: PS0= PS1='> '"}
	for _, s := range []struct {
		shellSpec
		lines []string
	}{
		{shellSpec{name: "bash"}, bash},
		{shellSpec{name: "bash", old: true}, bash[:7]}, // it has one PROMPT_COMMAND
		{shellSpec{name: "bash", files: map[string]string{".bashrc": "trap : DEBUG"}}, bash[:3]},
		{shellSpec{name: "zsh"}, []string{"precmd() { : }", "preexec() { : }", "PS1='> '"}},
		{shellSpec{name: "fish"}, []string{"function fish_prompt; echo '> '; end"}},
	} {
		for _, line := range s.lines {
			t.Run(fmt.Sprintf("%s,old=%v,%s", s.name, s.old, line), func(t *testing.T) {
				t.Parallel()
				sh := startShell(t, s.shellSpec)
				before := len(sh.marks())
				sh.run(line)
				sh.expect("false", command("false", 1))
				if got := sh.marks()[before:]; got[2] != "D;0" || got[3] != "A" {
					t.Errorf("marks of it %q", got)
				}
			})
		}
	}
}

// zsh takes away all hooks at once. The next command puts back what tells of its end.
func TestZshHooksAreRestored(t *testing.T) {
	t.Parallel()
	sh := startShell(t, shellSpec{name: "zsh"})
	sh.run("true")
	sh.type_("precmd_functions=()\n")
	sh.until("the command", func() bool { return sh.marks()[len(sh.marks())-1] == "C" })
	sh.run("true")
	sh.expect("false", command("false", 1))
}

func TestAnotherShellByExecHasACleanEnvironment(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			sh := startShell(t, shellSpec{name: name})
			before := len(sh.marks())
			sh.type_("exec sh\n")
			sh.until("the command", func() bool { return len(sh.marks()) == before+2 })
			sh.type_("echo in''side; env; echo en''d\n")
			sh.text("inside")
			sh.text("end\r\n")
			rest := string(sh.out[strings.LastIndex(string(sh.out), "inside"):])
			if strings.Contains(rest, sh.nonce) || strings.Contains(rest, "\x1b]633") {
				t.Errorf("left behind: %q", rest)
			}
		})
	}
}

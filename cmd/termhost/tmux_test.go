package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// cleanEnv begins a command line, and gives the program the same environment wherever it runs.
const cleanEnv = "exec env -i HOME=/nonexistent PATH=\"$PATH\" TERM=xterm-256color LANG=C.UTF-8 "

// sourceText is the file that editors and pagers show.
var sourceText = strings.Repeat("package main // comment: Grüße, 漢字, 👍\n\n"+
	"func main() {\n\tprintln(\"hello\", 42)\n}\n"+
	"// a long line "+strings.Repeat("that is wrapped ", 10)+"\n", 20)

// coloredText contains every kind of colour and attribute.
var coloredText = func() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "\x1b[%dm%d \x1b[38;5;%dmindexed \x1b[48;2;%d;60;120mtrue\x1b[m "+
			"\x1b[4munder\x1b[24;7minverse\x1b[0m 漢字\n", 31+i%7, i, i*4, i*4)
	}
	return b.String()
}()

// program is a program whose screen does not change any more after a while.
type program struct {
	needs  string // the program that must be installed
	script string // for bash; DIR stands for the world's folder
	ready  string // matches the screen then
}

var programs = map[string]program{
	"vim":       {"vim", cleanEnv + `vim -u NONE -N -i NONE -n -c 'syntax on' -c 'set background=dark number hlsearch' -c '/main' DIR/source.go`, `source\.go|func`},
	"vim split": {"vim", cleanEnv + `vim -u NONE -N -i NONE -n -c 'syntax on' -c 'set background=dark mouse=a' -c 'vsplit' -c 'normal G' DIR/source.go`, `func`},
	"less":      {"less", cleanEnv + `less -R DIR/colors`, `indexed`},
	"progress":  {"bash", cleanEnv + `bash --norc -c 'cat DIR/colors; for i in 1 2 3 4 5 6; do printf "\r\033[32m[%-40s]\033[m %d%%" $(printf "#%.0s" $(seq $((i*4)))) $((i*10)); done; read x'`, `60%`},
	"prompt":    {"bash", cleanEnv + `PS1='\[\e[1;32m\]user\[\e[0m\]:\[\e[34m\]dir\[\e[0m\]> ' bash --norc --noprofile -i`, `dir.*>`},
	"dialog":    {"dialog", cleanEnv + `dialog --title Title --menu 'Choose one' 15 50 5 a First b Second c Third`, `Second`},
	"margins":   {"bash", cleanEnv + `bash --norc -c 'stty -echo; cat DIR/colors; printf "\033[5;20r\033[?6h\033[3;7H\033[?1002;1006hx\033[4h\033[35m"; read x'`, `indexed`},
	"mc":        {"mc", `own=$(mktemp -d DIR/mc.XXXXXX); mkdir $own/mc; cp DIR/mc.ini $own/mc/ini; cd DIR/listed; exec env -i HOME=$own XDG_CONFIG_HOME=$own PATH="$PATH" TERM=xterm-256color LANG=C.UTF-8 mc -u DIR/listed DIR/listed`, `Quit`},
}

// mcConfig turns off what changes by itself on the screen of mc.
const mcConfig = "[Layout]\nmessage_visible=0\nfree_space=0\nxterm_title=0\n" +
	"[Midnight-Commander]\nconfirm_exit=0\n"

// scriptOf writes a program's script, which begins in the same folder wherever it is run, and
// returns the command line that runs it.
func (w *tmuxWorld) scriptOf(p program) string {
	w.t.Helper()
	w.file("source.go", sourceText)
	w.file("colors", coloredText)
	w.file("mc.ini", mcConfig)
	if err := exec.Command("mkdir", "-p", w.dir+"/listed/folder").Run(); err != nil {
		w.t.Fatal(err)
	}
	script := "cd /\n" + strings.ReplaceAll(p.script, "DIR", w.dir) + "\n"
	return "bash " + w.file("program.sh", script)
}

// TestAnAttachLooksLikeTheProgramRunDirectly compares a program run in a terminal, which is tmux,
// with the same one shown there by an attach: its text, colours, cursor and modes must be the same
// while it starts, after attaching again, and after a resize.
func TestAnAttachLooksLikeTheProgramRunDirectly(t *testing.T) {
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			slowtest.Programs(t, p.needs)
			w := newTmuxWorld(t)
			line := w.scriptOf(p)
			direct := w.run(line)
			started := w.host("new -n work -- " + line)
			w.same(direct, started, p.ready)
			started.keys(`C-\`, "d")
			started.sees("goes on running")
			attached := w.host("attach work")
			w.same(direct, attached, p.ready)
			direct.resize(70, 20)
			attached.resize(70, 20)
			// These two do not repaint themselves, and tmux and the host wrap lines differently.
			if name != "margins" && name != "progress" {
				w.same(direct, attached, p.ready)
			}
		})
	}
}

// TestProgramsStartWithNobodyAttached runs programs that query the terminal when they start, and
// get answers although nobody is attached.
func TestProgramsStartWithNobodyAttached(t *testing.T) {
	for name, c := range map[string]struct{ needs, script, ready string }{
		"fish": {"fish", cleanEnv + "fish --no-config", `[>#]`},
		"vim":  {"vim", cleanEnv + "vim -u NONE -N -i NONE -n DIR/source.go", `func main`},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.Programs(t, c.needs)
			w := newTmuxWorld(t)
			w.ssh("new", "-d", "-n", "work", "--", w.scriptOf(program{script: c.script}))
			w.peeks("work", c.ready)
		})
	}
}

// asking sends queries when it gets a key. At the key "!" it shows the answers.
const asking = `stty raw -echo
printf 'ready\r\n'
IFS= read -rsN1 k
printf '\033[c\033[>c\033[6n\033]11;?\033\\\033[?2026$p\033[>q\033[?u\033[14t\033[18t\033P$qm\033\\\033[5nasked\r\n'
got=
while IFS= read -rsN1 c && [ "$c" != '!' ]; do got+=$c; done
stty sane
printf '%q\n' "$got"
echo finished
read x
`

// answers match the answers to these queries, each exactly one. The size in pixels is unknown.
var answers = []string{
	`\\E\[\?[0-9;]+c`, `\\E\[>[0-9;]+c`, `\\E\[[0-9]+;[0-9]+R`,
	`\\E\]11;rgb:[0-9a-f/]+\\E\\\\`, `\\E\[\?2026;[0-4]\$y`,
	`\\EP>\|[^\\]*\\E\\\\`, `\\E\[\?0u`, `\\E\[8;[0-9]+;[0-9]+t`,
	`\\EP1\$r[0-9;:]*m\\E\\\\`, `\\E\[0n`,
}

// TestQueriesAreAnsweredOnce checks that every query is answered exactly once, however many people
// watch, and that no viewer sees it.
func TestQueriesAreAnsweredOnce(t *testing.T) {
	for _, viewers := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(viewers), func(t *testing.T) {
			w := newTmuxWorld(t)
			w.ssh("new", "-d", "-n", "work", "--", "bash "+w.file("asking.sh", asking))
			w.peeks("work", "ready")
			var panes []pane
			for range viewers {
				panes = append(panes, w.host("attach -r work"))
			}
			for _, p := range panes {
				p.sees("ready")
			}
			w.ssh("send", "work", "g")
			w.peeks("work", "asked")
			for _, p := range panes {
				if got := p.sees("asked"); strings.TrimSpace(got) != "ready\nasked" {
					t.Errorf("a viewer sees %q", got)
				}
			}
			w.ssh("send", "work", "!")
			text := w.peeks("work", "finished")
			_, got, _ := strings.Cut(text, "asked")
			got, _, _ = strings.Cut(strings.ReplaceAll(got, "\n", ""), "finished")
			rest := strings.TrimSpace(got)
			for _, a := range answers {
				re := regexp.MustCompile(a)
				if n := len(re.FindAllString(got, -1)); n != 1 {
					t.Errorf("%d answers like %s in %s", n, a, got)
				}
				rest = re.ReplaceAllString(rest, "")
			}
			if rest != "$''" {
				t.Errorf("besides the answers: %s", rest)
			}
		})
	}
}

// TestAttachInTheMiddle attaches in the middle of a sequence, of a rune, and of a line that is
// written again and again. When the program goes on, the attach must show the same as the program.
func TestAttachInTheMiddle(t *testing.T) {
	for name, script := range map[string]string{
		"a sequence": `stty -echo; printf 'before\033[3'; read x; printf '1mred\033[m after\n'; read x`,
		"a rune":     `stty -echo; printf 'before\346\274'; read x; printf '\242 after\n'; read x`,
		"a progress bar": `stty -echo; for i in $(seq 40); do printf '\r\033[3%dm%*s\033[m %d%% before' $((i%7+1)) $i x $i; done; read x; ` +
			`for i in $(seq 41 60); do printf '\r\033[3%dm%*s\033[m %d%% ' $((i%7+1)) $i x $i; done; printf '\nafter\n'; read x`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newTmuxWorld(t)
			line := "bash " + w.file("program.sh", script+"\n")
			direct := w.run(line)
			w.ssh("new", "-d", "-n", "work", "--", line)
			w.peeks("work", "before")
			attached := w.host("attach work")
			attached.sees("before")
			direct.sees("before")
			direct.keys("Enter")
			attached.keys("Enter")
			w.same(direct, attached, "after")
		})
	}
}

// TestAttachAfterMuchOutput attaches after a flood: the end of the output is shown, and the program
// gets what is typed.
func TestAttachAfterMuchOutput(t *testing.T) {
	megabytes := 100
	if !slowtest.On(t) {
		megabytes = 10
	}
	w := newTmuxWorld(t)
	script := fmt.Sprintf("cat DIR/colors; yes \"$(cat DIR/colors)\" | head -c %dM; "+
		"printf '\\033[m\\nTHE %%s\\n' END; exec cat", megabytes)
	line := w.scriptOf(program{script: script})
	w.ssh("new", "-d", "-n", "work", "--", line)
	w.ssh("wait", "--match", "'THE END'", "work")
	attached := w.host("attach work")
	attached.sees("THE END")
	attached.keys("live", "Enter")
	attached.sees("THE END\nlive\nlive")
	peeked := strings.TrimRight(w.ssh("peek", "work"), "\n")
	// On a busy machine a notice says for a while how many of the lines above were sent.
	w.await("the viewer sees what the host does", "^"+regexp.QuoteMeta(peeked)+"$",
		func() string { return strings.TrimRight(attached.text(), "\n") })
}

// TestInterruptDuringAFlood checks that Ctrl-C ends a flood and the prompt appears.
func TestInterruptDuringAFlood(t *testing.T) {
	w := newTmuxWorld(t)
	p := w.host("new -n work -- env PS1=PROMPT bash --norc --noprofile")
	p.sees("PROMPT")
	p.keys("yes", "Enter")
	p.sees(`^y\n(y\n)+`)
	p.keys("C-c")
	p.sees(`PROMPT\s*$`)
	p.keys("echo back-$((40+2))", "Enter")
	p.sees("back-42\nPROMPT")
}

// TestTheViewersScrollback checks that what the viewer's terminal showed before an attach stays in
// its scrollback, and that resizing puts nothing there twice.
func TestTheViewersScrollback(t *testing.T) {
	w := newTmuxWorld(t)
	line := "bash " + w.file("program.sh", "seq -f 'line %g.' 40; exec cat\n")
	w.ssh("new", "-d", "-n", "work", "--", line)
	w.peeks("work", `line 40\.`)
	p := w.run("seq -f 'own %g.' 5; ssh -F " + w.sshConfig + " -t host attach work; exec cat")
	p.sees(`line 40\.`)
	once := func(what string) {
		t.Helper()
		all := p.all()
		for i := range 40 {
			if n := strings.Count(all, fmt.Sprintf("line %d.\n", i+1)); n != 1 {
				t.Fatalf("%s, line %d is there %d times:\n%s", what, i+1, n, all)
			}
		}
		for i := range 5 {
			if n := strings.Count(all, fmt.Sprintf("own %d.\n", i+1)); n != 1 {
				t.Fatalf("%s, the viewer's own line %d is there %d times:\n%s", what, i+1, n, all)
			}
		}
	}
	once("attached")
	for i, size := range [][2]int{{80, 20}, {90, 30}, {60, 24}, {80, 24}} {
		p.resize(size[0], size[1])
		w.await("the terminal's size", fmt.Sprintf("work .*%dx%d", size[0], size[1]),
			func() string { return w.ssh("ls") })
		p.keys(fmt.Sprintf("typed %d", i), "Enter")
		p.sees(fmt.Sprintf(`typed %d\ntyped %d\n`, i, i))
		once(fmt.Sprintf("resized to %v", size))
	}
	for i := range 3 { // while an overlay covers the screen, lines scroll
		p.keys(`C-\`, "?")
		p.sees("Any key closes this")
		w.ssh("send", "--enter", "work", fmt.Sprintf("covered %d", i))
		w.peeks("work", fmt.Sprintf(`covered %d\ncovered %d\n`, i, i))
		p.keys("Escape")
		p.sees(fmt.Sprintf(`covered %d\ncovered %d\n`, i, i))
		once("uncovered")
	}
	p.keys(`C-\`, "d")
	p.sees("goes on running")
	once("detached")
}

// A full-screen program that ran in the pane before has left a saved cursor, which an attach must
// not go back to: what stood below it would be drawn over.
func TestAnAttachWipesNoLineWhereAFullScreenProgramRanBefore(t *testing.T) {
	w := newTmuxWorld(t)
	w.ssh("new", "-d", "-n", "work", "--", "echo attached; exec cat")
	for i, before := range []string{
		`printf '\033[H\033[2J'; printf '\033[?1049hfull\033[?1049l'; seq -f 'own %g' 8`,
		`printf '\033[H\033[2J'; printf '\033[?1049hfull\033[?1049l'; seq -f 'own %g' 40`,
		`seq -f 'own %g' 12; printf '\033[5;1H\033[?1049hfull\033[?1049l\033[13;1H'`,
		`seq -f 'own %g' 8; printf '\033[?1049hnobody has left it'`,
	} {
		p := w.run(before + "; exec ssh -F " + w.sshConfig + " -t host attach -r work")
		p.sees("(?m)^attached")
		lines := strings.Count(before, "40")*32 + strings.Count(before, "12;")*4 + 8
		all := p.all()
		for n := 1; n <= lines; n++ {
			if got := strings.Count(all, fmt.Sprintf("own %d\n", n)); got != 1 {
				t.Errorf("%d: line %d of %d is there %d times:\n%s", i, n, lines, got, all)
				break
			}
		}
	}
}

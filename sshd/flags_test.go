package sshd

import (
	"strconv"
	"strings"
	"testing"
)

// People and agents choose names of the characters [A-Za-z0-9._-], and any may come first.
func TestANameThatBeginsWithADashIsReachedBehindTwoDashes(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, name := range []string{"-x", "--", "-n"} {
		got := r.ssh("alice", "", "new -d -n '"+name+
			"' -- stty -echo; printf ready; read x; printf \"got <$x>\"; exit 5")
		if got.status != 0 || got.stdout != name+"\n" {
			t.Fatalf("new: %+v", got)
		}
		for _, c := range []struct {
			command, stdout string
			status          int
		}{
			{"wait --match ready --timeout 30s -- " + name, "", 0},
			{"peek -- " + name, "ready\n", 0},
			{"send --enter -- " + name + " -n  'two words' ", "", 0},
			{"wait -- " + name, "", 5},
			{"log --raw -- " + name, "readygot <-n  'two words'>", 0},
			{"attach -r -- " + name, "readygot <-n  'two words'>", 5},
			{"rm -- " + name, "", 0},
			{"share -n '" + name + "'", "", 0},
		} {
			got := r.ssh("alice", "", c.command)
			shares := strings.HasPrefix(c.command, "share")
			if strings.HasPrefix(c.command, "attach") { // it says that the terminal has exited
				if !strings.Contains(got.stderr, "`ssh HOST rm -- "+name+"`") {
					t.Errorf("%s: %+v", c.command, got)
				}
				got.stderr = ""
			}
			if got.status != c.status || !strings.HasPrefix(got.stdout, c.stdout) ||
				strings.Contains(got.stderr, "attach -- "+name+"`") != shares ||
				got.stderr != "" && !shares {
				t.Errorf("%s: %+v", c.command, got)
			}
		}
	}
}

func TestFlagsMayFollowTheName(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- stty -echo; printf ready; read x; printf \"got <$x>\";"+
		" read x; exit 5")
	for _, c := range []struct {
		command, stdout string
		status          int
	}{
		{"wait work --match ready --timeout 30s", "", 0},
		{"log work --raw", "ready", 0},
		{"send work ls -la --enter", "", 0}, // -la only looks like a flag
		{`wait work --match got\s<ls\s-la> --timeout 30s`, "", 0},
		{"send work --key enter", "", 0},
		{"wait work --timeout 30s", "", 5},
		{"attach work -r", "readygot", 5},
	} {
		got := r.ssh("alice", "", c.command)
		said := got.stderr != "" && c.command != "attach work -r" // which says that it has exited
		if got.status != c.status || !strings.HasPrefix(got.stdout, c.stdout) || said {
			t.Errorf("%s: %+v", c.command, got)
		}
	}
}

func TestWhatIsTypedIsToldFromFlags(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, c := range []struct{ send, want string }{
		{"--enter work a b", "a b|"},
		{"work --enter a b", "a b|"},
		{"work a b --enter", "a b|"},
		{"work a --enter b", "a --enter b"},
		{"work a --key enter --enter", "a||"},
		{"work --enter -- --enter -x  y ", "--enter -x  y |"},
		{"work --key enter -- -", "-|"},
		{"work --enter a -", "a -|"},
		{"work a -l --enter -- -- 'b", "a -l --enter -- -- 'b"},
		{`work printf "%s|"  'x   y' \$z`, `printf "%s|"  'x   y' \$z`},
		{"work it's  --enter", "it's|"},
		{`work --key enter "say `, `"say |`},
		{"work git checkout -- x", "git checkout -- x"},
	} {
		r.ssh("alice", "", "new -d -n work -- stty raw -echo; printf ready; head -c "+
			strconv.Itoa(len(c.want))+" | tr '\r' '|'")
		r.shows("work", "ready")
		if got := r.ssh("alice", "", "send "+c.send); got != (outcome{}) {
			t.Errorf("send %s: %+v", c.send, got)
		}
		r.ssh("alice", "", "wait --timeout 30s work")
		if got := r.ssh("alice", "", "log --raw work"); got.stdout != "ready"+c.want {
			t.Errorf("send %s: typed %q", c.send, got.stdout)
		}
		r.ssh("alice", "", "rm work")
	}
	if got := r.ssh("alice", "", "termhost send nobody it's"); got.status != 1 || !strings.Contains(got.stderr, "nobody") {
		t.Errorf("a marked verb: %+v", got)
	}
	if got := r.ssh("alice", "", "termhost peek it's"); got.status != 2 || !strings.Contains(got.stderr, "not closed") {
		t.Errorf("a marked verb that types nothing: %+v", got)
	}
	for _, wrong := range []string{"work -la", "work --entr", "work ls --entr", "--entr work ls"} {
		got := r.ssh("alice", "", "send "+wrong)
		if got.status != 2 || !strings.Contains(got.stderr, "hint: what follows -- is typed as it is") {
			t.Errorf("send %s: %+v", wrong, got)
		}
	}
}

func TestAFolderInTheHomeDirectoryIsFoundByTheHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for dir, want := range map[string]string{"~": "run -- pwd", "~/..": "run -C .. -- pwd"} {
		want := r.ssh("alice", "", want)
		if got := r.ssh("alice", "", "run -C "+dir+" -- pwd"); got.status != 0 || got != want {
			t.Errorf("%s: %+v, want %+v", dir, got, want)
		}
	}
}

func TestACommandBeginsWithTheFirstWordThatIsNoFlag(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for command, want := range map[string]string{
		`run echo -n  'two  words' $((1+1))`:     "two  words 2",
		`run -n x printf '<%s>' -- "a  b"`:       "<--><a  b>",
		`run -n x -- printf '<%s>' -n -- "a  b"`: "<-n><--><a  b>",
		`run "echo" -n x`:                        "x",
		`run -C / pwd`:                           "/\n",
	} {
		if got := r.ssh("alice", "", command); got.status != 0 || got.stdout != want {
			t.Errorf("%s: %+v, want %q", command, got, want)
		}
	}
}

func TestARelativeFolderIsTakenFromWhereTerminalsStart(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // the host's, which is not its account's
	r := newRig(t, rigOptions{})
	start := r.ssh("alice", "", "run -- pwd")
	if got := r.ssh("alice", "", "run -C . -- pwd"); got.status != 0 || got != start {
		t.Errorf("%+v, want %+v", got, start)
	}
}

package sshd

import (
	"flag"
	"strings"
	"testing"
)

// Names are what people and agents choose: [A-Za-z0-9._-], also at the front.
func TestANameThatBeginsWithADashIsReachedBehindTwoDashes(t *testing.T) {
	r := newRig(t, rigOptions{})
	for _, name := range []string{"-x", "--", "-n"} {
		if got := r.ssh("alice", "", "new -d -n '"+name+"' -- stty -echo; printf ready; read x; printf \"got <$x>\"; exit 5"); got.status != 0 || got.stdout != name+"\n" {
			t.Fatalf("new: %+v", got)
		}
		for _, c := range []struct {
			command, stdout string
			status          int
		}{
			{"wait --match ready --timeout 15s -- " + name, "", 0},
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
			if got.status != c.status || !strings.HasPrefix(got.stdout, c.stdout) || strings.Contains(got.stderr, "attach -- "+name+"`") != shares || got.stderr != "" && !shares {
				t.Errorf("%s: %+v", c.command, got)
			}
		}
	}
}

func TestFlagsMayFollowTheName(t *testing.T) {
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- stty -echo; printf ready; read x; printf \"got <$x>\"; read x; exit 5")
	for _, c := range []struct {
		command, stdout string
		status          int
	}{
		{"wait work --match ready --timeout 15s", "", 0},
		{"log work --raw", "ready", 0},
		{"send work --enter ls -la --enter", "", 0}, // what is typed is no flag
		{"wait work --match got.<ls.-la.--enter> --timeout 15s", "", 0},
		{"send work --key enter", "", 0},
		{"wait work --timeout 15s", "", 5},
		{"attach work -r", "readygot", 5},
	} {
		if got := r.ssh("alice", "", c.command); got.status != c.status || !strings.HasPrefix(got.stdout, c.stdout) || got.stderr != "" {
			t.Errorf("%s: %+v", c.command, got)
		}
	}
}

func TestACommandBeginsWithTheFirstWordThatIsNoFlag(t *testing.T) {
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

func TestWhatIsTypedIsToldFromFlags(t *testing.T) {
	for _, c := range []struct {
		words string
		flags int
	}{
		{"", 0},
		{"text --enter", 0},
		{"--enter text", 1},
		{"-enter --enter", 2},
		{"--enter=true --key=up --key down -x", 4},
		{"--key", 1},
		{"--key --enter", 2},
		{"-la", 0},
		{"- --enter", 0},
		{"-- --enter", 0},
		{"--enterprise", 0},
	} {
		fs := flag.NewFlagSet("send", flag.ContinueOnError)
		fs.Bool("enter", false, "")
		fs.Func("key", "", func(string) error { return nil })
		if got := knownFlags(fs, strings.Fields(c.words)); got != c.flags {
			t.Errorf("%q begins with %d flags, want %d", c.words, got, c.flags)
		}
	}
}

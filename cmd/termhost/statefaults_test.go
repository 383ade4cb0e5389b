package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

// instead are what may stand in place of a state file.
var instead = map[string]func(path string) error{
	"garbage": func(p string) error { return os.WriteFile(p, []byte("\x7fgarbage\n\x00\xff"), 0o600) },
	"empty":   func(p string) error { return os.WriteFile(p, nil, 0o600) },
	"a pipe":  func(p string) error { return unix.Mkfifo(p, 0o600) },
	"a folder": func(p string) error {
		return os.Mkdir(p, 0o700)
	},
	"a loop": func(p string) error { return os.Symlink(filepath.Base(p), p) },
}

// spoiled puts something in place of a state file.
func spoiled(t *testing.T, path, with string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := instead[with](path); err != nil {
		t.Fatal(err)
	}
}

// TestASpoiledStateFileIsToldOf starts hosts on state folders in which something else stands in
// place of a file: they end or go on, and say which file it is.
func TestASpoiledStateFileIsToldOf(t *testing.T) {
	t.Parallel()
	start, _, do := keptHost(t, "\nterminal.record = \"all\"\n")
	h := start()
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo hello; exit 5")
	hosttest.Eventually(t, "it ends", func() bool { return strings.Contains(do("ls"), "exited 5") })
	do("stop")
	<-h.Ended
	all := []string{"a pipe", "a folder", "a loop", "garbage", "empty"}
	none := all[:3] // what is no file
	for _, c := range []struct {
		file string // below the state folder
		with []string
		ends bool
	}{
		{"ssh_host_ed25519_key", all, true},
		{"client_ed25519", all, true},
		{"page_host_ecdsa_key", all, true},
		{"tokens.json", all, true},
		{"invitations.json", all, true},
		{"links.json", all, true},
		{"authorized_keys", none, true},
		{"authorized_keys", all[3:4], false},
		{"lock", none, true},
		{"keeper", append(none[:1:1], none[2]), true},
		{"keeper/lock", none, true},
		{"keeper/log", none, true},
		{"../../../c.toml", all[:4], true},
		{"audit.log", none, false},
		{"known_hosts", none, false},
		{"spare", append(none[:1:1], none[2]), false},
		{"host.journal", all[:4], false},
		{"serverseq", all, false},
		{"terms/*/meta", all, false},
		{"terms/*", append(none[:1:1], none[2]), false},
		{"recordings/*", all, false},
	} {
		for i, with := range c.with {
			if i > 0 && !isSlow(t) {
				break // a pipe is the worst of them
			}
			t.Run(c.file+" "+with, func(t *testing.T) {
				t.Parallel()
				said, up := startOnSpoiled(t, h, c.file, with)
				if up == c.ends {
					t.Errorf("the host is up: %v; it says %s", up, said)
				}
				if name, _, _ := strings.Cut(strings.TrimLeft(c.file, "./"), "*"); !strings.Contains(said, name) {
					t.Errorf("it does not name it: %s", said)
				}
			})
		}
	}
}

// startOnSpoiled starts a host on a copy of another one's state folder with a spoiled file. It
// returns what that says, and whether it came up.
func startOnSpoiled(t *testing.T, of *bench.Host, file, with string) (said string, up bool) {
	t.Helper()
	from, to := filepath.Dir(of.File), hosttest.Dir(t)
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	config := filepath.Join(to, "c.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(from), []byte(to))
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(to, ".local/state/termhost", file))
	if err != nil || len(files) == 0 {
		files = []string{filepath.Join(to, ".local/state/termhost", file)}
	}
	spoiled(t, files[0], with)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "termhost", "serve", "-c", config)
	cmd.Env = append(os.Environ(), "HOME="+to, "XDG_STATE_HOME=")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	var log strings.Builder
	for buf := make([]byte, 4096); ; {
		n, err := out.Read(buf)
		log.Write(buf[:n])
		if !up && strings.Contains(log.String(), "\nSocket:") {
			up = true
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // how it ended is what up says
	if ctx.Err() != nil {
		t.Errorf("it hangs, and says %s", log.String())
	}
	return log.String(), up
}

// TestADamagedLogIsToldOf damages the logs of a terminal that has exited and of one that runs.
func TestADamagedLogIsToldOf(t *testing.T) {
	t.Parallel()
	for with := range instead {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			start, state, do := keptHost(t, "")
			h := start()
			do("new", "-d", "-n", "five", "--", "sh", "-c", "echo hello; exit 5")
			do("new", "-d", "-n", "runs", "--", "sh", "-c", "echo up; while read x; do echo got $x; done")
			do("wait", "--match", "up", "runs")
			hosttest.Eventually(t, "it ends", func() bool { return strings.Contains(do("ls"), "exited 5") })
			_ = h.Stop(syscall.SIGKILL)
			logs, err := filepath.Glob(filepath.Join(state, "terms/*/log.0"))
			if err != nil || len(logs) != 2 {
				t.Fatalf("there are %q, %v", logs, err)
			}
			for _, log := range logs {
				spoiled(t, log, with)
			}
			for _, line := range []string{"more", "other"} { // the second host knows it from the first
				h = start()
				listed := do("ls")
				if line := lineOf(listed, "five"); !strings.Contains(line, "exited 5 (log damaged)") {
					t.Errorf("listed: %s", line)
				}
				if line := lineOf(listed, "runs"); !strings.Contains(line, "log damaged") ||
					strings.Contains(line, "exited") {
					t.Errorf("listed: %s", line)
				}
				if got := do("log", "five"); !strings.Contains(got, "7 bytes are missing here: the log was damaged]") {
					t.Errorf("the log is %q", got)
				}
				do("send", "--enter", "runs", line)
				do("wait", "--match", "got "+line, "runs")
				got := do("log", "runs")
				if !strings.Contains(got, "missing here: the log was damaged]") ||
					!strings.HasSuffix(got, "\ngot "+line+"\n") {
					t.Errorf("the log is %q", got)
				}
				_ = h.Stop(syscall.SIGKILL)
			}
		})
	}
}

// TestACutLogShowsWhatIsWhole cuts the log of a terminal that has exited wherever a record may end.
func TestACutLogShowsWhatIsWhole(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo one; read x; echo two; exit 5")
	do("wait", "--match", "one", "a")
	do("send", "--enter", "a", "")
	hosttest.Eventually(t, "it ends", func() bool { return strings.Contains(do("ls"), "exited 5") })
	_ = h.Stop(syscall.SIGKILL)
	logs, err := filepath.Glob(filepath.Join(state, "terms/*/log.0"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("there are %q, %v", logs, err)
	}
	whole, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	meta := filepath.Join(filepath.Dir(logs[0]), "meta")
	description, err := os.ReadFile(meta)
	if err != nil {
		t.Fatal(err)
	}
	two := bytes.LastIndex(whole, []byte("two"))
	for name, c := range map[string]struct {
		at              int
		damaged, hasTwo bool
	}{
		"in the exit": {len(whole) - 10, false, true},
		"in a line":   {two + 1, true, false},
		"before it":   {two - 28, true, false}, // the record's header
	} {
		if err := os.WriteFile(logs[0], whole[:c.at], 0o600); err != nil {
			t.Fatal(err)
		}
		h = start()
		line, got := lineOf(do("ls"), "a"), do("log", "a")
		if !strings.Contains(line, "exited 5") || strings.Contains(line, "log damaged") != c.damaged {
			t.Errorf("cut %s it is listed: %s", name, line)
		}
		if !strings.HasPrefix(got, "one\n") || strings.Contains(got, "\ntwo\n") != c.hasTwo ||
			strings.Contains(got, "bytes are missing here: the log was damaged]") != c.damaged {
			t.Errorf("cut %s the log is %q", name, got)
		}
		_ = h.Stop(syscall.SIGKILL)
		if err := os.WriteFile(meta, description, 0o600); err != nil { // the damage is noted there
			t.Fatal(err)
		}
	}
}

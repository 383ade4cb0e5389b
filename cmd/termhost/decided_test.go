package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"termhost/ahp/hosttest"
	"termhost/ptypool/smalldisk"
)

// decided are people's decisions, as listings show them.
type decided struct {
	Name, GuardedWhy string
	Guarded          bool
	Claim            struct{ Holder, ClientID string }
	Labels           map[string]string
}

func decidedOf(t *testing.T, do verbRunner) map[string]decided {
	t.Helper()
	var list []decided
	if err := json.Unmarshal([]byte(do("ls", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]decided{}
	for _, d := range list {
		all[d.Name] = d
	}
	return all
}

// TestWhatPeopleDecideOnAFullDiskOutlivesTheHost sets guards, takes a keyboard, renames and labels
// while nothing can be written, and kills the host twice.
func TestWhatPeopleDecideOnAFullDiskOutlivesTheHost(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, "4m")
	// The host's user makes the terminals; another person takes a keyboard by ssh.
	start, _, do := keptHost(t, fmt.Sprintf("\nstate_dir = %q\npeople.me = \"another\"\n", disk))
	h := start()
	for _, name := range []string{"on", "off", "renamed", "agents"} {
		args := []string{"new", "-d", "-n", name, "--", "cat"}
		if name == "off" {
			args = append([]string{"new", "--guard"}, args[1:]...)
		}
		do(args...)
	}
	do("new", "-d", "-n", "taken", "--", "cat")
	lender := decidedOf(t, do)["taken"].Claim
	smalldisk.Fill(t, disk, "full", 0)
	do("new", "-d", "-n", "late", "--", "cat")
	for _, name := range []string{"on", "late"} {
		do("guard", name, "on")
	}
	do("guard", "off", "off")
	do("rename", "renamed", "other")
	do("label", "other", "k=v")
	words := append(h.SSHCommand(), "-tt", "attach", "taken")
	viewer := exec.Command(words[0], words[1:]...)
	tty, err := pty.Start(viewer)
	hosttest.Check(t, err)
	shown := make(chan error)
	go func() { // until the viewer ends
		_, err := io.Copy(io.Discard, tty)
		shown <- err
	}()
	defer func() {
		tty.Close()
		_ = viewer.Process.Kill() // it may have ended with its host
		<-shown
		_ = viewer.Wait()
	}()
	hosttest.Eventually(t, "a person takes the keyboard", func() bool {
		_, err := tty.WriteString("x")
		return err != nil || decidedOf(t, do)["taken"].Claim != lender
	})
	before := decidedOf(t, do)
	for range 2 {
		_ = h.Stop(syscall.SIGKILL)
		h = start()
		if got := decidedOf(t, do); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Fatalf("decided is\n%+v, was\n%+v", got, before)
		}
	}
}

// TestATerminalWhoseJournalIsDamagedIsGuarded: the next host does not know for sure what people had
// decided about it, and says so.
func TestATerminalWhoseJournalIsDamagedIsGuarded(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	damages := map[string]func(folder string) error{
		"missing": os.RemoveAll,
		"half": func(folder string) error {
			return os.Truncate(filepath.Join(folder, "meta"), 100)
		},
		"empty": func(folder string) error {
			return os.Truncate(filepath.Join(folder, "meta"), 0)
		},
		"garbage": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "meta"), []byte("\xff{}\n"), 0o600)
		},
		"whole": func(string) error { return nil },
	}
	for name := range damages {
		do("new", "-d", "-n", name, "--", "cat")
	}
	_ = h.Stop(syscall.SIGKILL)
	metas, err := filepath.Glob(filepath.Join(state, "terms/*/meta"))
	hosttest.Check(t, err)
	damaged := 0
	for _, meta := range metas {
		text, err := os.ReadFile(meta)
		hosttest.Check(t, err)
		for name, damage := range damages {
			if strings.Contains(string(text), fmt.Sprintf(`"name":%q,`, name)) {
				hosttest.Check(t, damage(filepath.Dir(meta)))
				damaged++
			}
		}
	}
	if damaged != len(damages) {
		t.Fatalf("%d of %d are damaged", damaged, len(damages))
	}
	h = start()
	const why = "its description could not be read"
	for name := range damages {
		got := decidedOf(t, do)[name]
		if is := name != "whole"; got.Guarded != is || (got.GuardedWhy == why) != is {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if list := do("ls"); !strings.Contains(lineOf(list, "half"), "guarded: "+why) {
		t.Errorf("listed are %s", list)
	}
	audit, err := os.ReadFile(filepath.Join(state, "audit.log"))
	hosttest.Check(t, err)
	if got := strings.Count(string(audit), `"guard":"on","reason":"`+why+`"`); got != 4 {
		t.Errorf("the audit log has %d of them: %s", got, audit)
	}
	do("guard", "half", "on") // a person's guard from now on
	do("guard", "empty", "off")
	_ = h.Stop(syscall.SIGKILL)
	start()
	all := decidedOf(t, do)
	if is := all["half"]; !is.Guarded || is.GuardedWhy != "" {
		t.Errorf("a person has guarded it: %+v", is)
	}
	if is := all["empty"]; is.Guarded || is.GuardedWhy != "" {
		t.Errorf("a person has turned the guard off: %+v", is)
	}
}

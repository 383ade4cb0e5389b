package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

func TestTerminalsAreGroupedByLabelOrElseByRepositoryAndBranch(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "git")
	dir := hosttest.Dir(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := hosttest.Output(cmd); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main", "shop")
	git("-C", "shop", "commit", "-q", "--allow-empty", "-m", "x")
	git("-C", "shop", "worktree", "add", "-q", "-b", "fix/it", "../beside")
	git("clone", "-q", "--bare", "shop", "bare.git")
	git("-C", "bare.git", "worktree", "add", "-q", "-b", "other", "../of-bare")
	sub := filepath.Join(dir, "shop", "sub")
	fifo := filepath.Join(dir, "odd", ".git")
	for _, d := range []string{sub, fifo} {
		hosttest.Check(t, os.MkdirAll(d, 0o700))
	}
	hosttest.Check(t, syscall.Mkfifo(filepath.Join(fifo, "HEAD"), 0o600))

	h := hosttest.New(t)
	c := hosttest.Conn(t, h, carol)
	for _, want := range []struct {
		dir    string
		labels ahp.Labels
		group  string
	}{
		{sub, "", "shop@main"}, {filepath.Join(dir, "beside"), "", "shop@fix/it"}, {dir, "", ""},
		{filepath.Join(dir, "of-bare"), "", "bare@other"}, {filepath.Join(dir, "odd"), "", "odd"}, {sub, "group=mine", "mine"}, {"/", "", ""},
	} {
		made, err := c.Create(host.CreateOptions{Dir: want.dir, Labels: want.labels, Argv: sh("exec sleep 1000")})
		hosttest.Check(t, err)
		if got := made.Terminal.Info(carol).Group; got != want.group {
			t.Errorf("%s with %q is in group %q, want %q", want.dir, want.labels, got, want.group)
		}
	}
}

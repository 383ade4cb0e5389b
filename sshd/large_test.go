package sshd

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestAWindowLargerThanATerminalMayBeShowsAllOfIt in its top left corner. tmux is the window.
func TestAWindowLargerThanATerminalMayBeShowsAllOfIt(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		slowtest.Missing(t, "tmux is not installed")
	}
	for _, size := range [][2]int{{120, 700}, {1200, 20}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			cols, rows := size[0], size[1]
			tmux := func(args ...string) string {
				t.Helper()
				cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", r.path("tmux")},
					args...)...)
				out, err := hosttest.Output(cmd)
				if err != nil {
					t.Fatalf("tmux %q: %v", args, err)
				}
				return out
			}
			tmux("new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows),
				"ssh '"+strings.Join(r.sshArgs("alice", "-tt"), "' '")+
					"' 'new -n work -- stty size; seq 1000; while read x; do echo \"<$x>\"; done'")
			t.Cleanup(func() { tmux("kill-server") })
			r.shows("work", "1000")
			agrees := func(text string) {
				t.Helper()
				want, got := "", ""
				hosttest.Eventually(t, text, func() bool {
					want = strings.TrimRight(r.ssh("alice", "", "peek work").stdout, "\n")
					return strings.Contains(want, text)
				})
				defer func() {
					if t.Failed() {
						t.Logf("the host has\n%s\nthe window has\n%s", want, got)
					}
				}()
				hosttest.Eventually(t, "the window shows what the host does", func() bool {
					got = strings.TrimRight(tmux("capture-pane", "-p"), "\n")
					return got == want
				})
			}
			agrees("1000")
			tmux("send-keys", "one", "Enter")
			agrees("<one>")
			tmux("send-keys", strings.Repeat("x", 1010), "Enter")
			agrees("x>")
			r.sized("work", fmt.Sprintf("%dx%d", min(cols, host.MaxCols), min(rows, host.MaxRows)))
		})
	}
}

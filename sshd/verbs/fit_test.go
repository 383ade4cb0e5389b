package verbs

import (
	"strings"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
	"termhost/sshd/listing"
)

// longList is what a week's work leaves.
func longList() []host.Info {
	code := func(n int) *int { return &n }
	info := func(name string, change func(*host.Info)) host.Info {
		i := host.Info{Name: name, State: host.StateRunning, Executor: "server", Holder: "alice",
			Mine: true, Cols: 211, Rows: 53, Title: "~/src/termhost: " + name, CreatedAt: time.Now()}
		change(&i)
		return i
	}
	return []host.Info{
		info("integration-tests-of-the-importer-a", func(i *host.Info) {
			i.WantsYou = true
			i.LastCommand = &history.Command{
				Line: "go test -count=20 -race ./importer/...", ExitCode: code(137)}
		}),
		info("integration-tests-of-the-importer-b", func(i *host.Info) {
			i.Waiting, i.WantsYou, i.Recording, i.Guarded = host.WaitingSecret, true, true, true
			i.LastCommand = &history.Command{Line: "sudo make install", Running: true,
				StartedAt: time.Now().Add(-3 * time.Hour)}
		}),
		info("integration-server", func(i *host.Info) {
			i.Mine, i.Holder = false, "alice/claude-infrastructure"
			i.LastCommand = &history.Command{Line: "./serve --verbose --port 8080 --dir /srv/www",
				ExitCode: code(0)}
		}),
		info("sh", func(i *host.Info) {
			i.State, i.ExitCode = host.StateExited, code(1)
			i.LastCommand = &history.Command{Line: "exit 1"}
		}),
	}
}

// shown returns the lines of the list in a window of cols cells.
func shown(t *testing.T, list []host.Info, cols int) []string {
	t.Helper()
	var b strings.Builder
	writeTable(&b, listing.Fitted(listing.Table(list, cols == 0), cols), 0)
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestAListFitsItsWindow(t *testing.T) {
	t.Parallel()
	for cols, want := range map[int]string{
		100: `
NAME                                 STATE             CLAIM          AGE  LAST
integration-tests-of-the-importer-a  running !         you            0s   go test -coun… failed 137
integration-tests-of-the-importer-b  waits: secret… !  you            0s   sudo make install 3h
integration-server                   running           alice/claude…  0s   ./serve --verbose --p… ok
sh                                   exited 1          you            0s   exit 1
`,
		80: `
NAME                                 STATE                  LAST
integration-tests-of-the-importer-a  running !              go test … failed 137
integration-tests-of-the-importer-b  waits: secret (rec… !  sudo make install 3h
integration-server                   running                ./serve --verbos… ok
sh                                   exited 1               exit 1
`,
		60: `
NAME                             STATE       LAST
integration-tests-of-the-impo…a  running !   go … failed 137
integration-tests-of-the-impo…b  waits: … !  sudo make i… 3h
integration-server               running     ./serve --v… ok
sh                               exited 1    exit 1
`,
		40: `
NAME             STATE      LAST
integration-t…a  running !  … failed 137
integration-t…b  waits:… !  sudo mak… 3h
integration-s…r  running    ./serve … ok
sh               exited 1   exit 1
`,
	} {
		got := shown(t, longList(), cols)
		if lines := strings.Join(got, "\n"); lines != strings.Trim(want, "\n") {
			t.Errorf("in %d cells:\n%s\nwant%s", cols, lines, want)
		}
		for _, line := range got {
			if width.String(line) > cols {
				t.Errorf("%q is wider than %d cells", line, cols)
			}
		}
	}
}

// Even where nothing fits, NAMEs differ, and the mark of what wants the person is there.
func TestAListInAWindowThatIsTooNarrow(t *testing.T) {
	t.Parallel()
	want := `
NAME       STATE
integra…a  running !
integra…b  waits:… !
integra…r  running
sh         exited 1
`
	if got := strings.Join(shown(t, longList(), 20), "\n"); got != strings.Trim(want, "\n") {
		t.Errorf("the list is\n%s", got)
	}
}

func TestAListIsWholeWhereNobodyHasAWindow(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	name := strings.Repeat("long-", 10) + "name"
	r.run(t, "", "new -d -n "+name+" -- sleep 1000")
	for _, line := range []string{"ls", "ls --wide"} {
		if got := r.run(t, "", line).stdout; !strings.Contains(got, "\n"+name+"  ") ||
			!strings.Contains(got, "EXECUTOR  VIEWERS  AGE  LAST        FOLDER  TITLE\n") {
			t.Errorf("%s shows %s", line, got)
		}
	}
	for line, want := range map[string]string{
		"ls": "NAME                 STATE    LAST\r\n" +
			"long-long-long-lon…  running  sleep 1000\r\n",
		"ls --wide": "EXECUTOR  VIEWERS  AGE  LAST        FOLDER  TITLE\r\n" + name + "  ",
	} {
		p := r.sits(t, Window{Cols: 40, Rows: 10}, line)
		p.Sees(want)
		p.SeesAll()
		<-p.Status
	}
}

package listing

import (
	"slices"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
)

func TestTheListShowsFirstWhatWantsYouAndHowTheLastCommandsWent(t *testing.T) {
	t.Parallel()
	code := func(n int) *int { return &n }
	took := [...]int64{999, 41_000}
	started := time.Now().Add(-90 * time.Second)
	rows := Table([]host.Info{
		{Name: "gone", State: host.StateExited, LastCommand: &history.Command{Line: "exit"}},
		{Name: "busy", State: host.StateRunning,
			LastCommand: &history.Command{Line: "make all", StartedAt: started, Running: true}},
		{Name: "idle", State: host.StateRunning, LastCommand: &history.Command{
			Line: "git log --oneline --all --graph", ExitCode: code(0), DurationMs: &took[0]}},
		{Name: "bare", State: host.StateRunning},
		{Name: "sad", State: host.StateRunning, WantsYou: true,
			LastCommand: &history.Command{Line: "make", ExitCode: code(2), DurationMs: &took[1]}},
	}, false)
	var got []string
	for _, row := range rows[1:] {
		got = append(got, row[Name].Text+": "+row[Last].String())
	}
	want := []string{"sad: make failed 2 41s", "busy: make all 1m", "idle: git log --oneline --all --graph ok",
		"bare: -", "gone: exit"}
	if !slices.Equal(got, want) {
		t.Errorf("the list shows %q", got)
	}
}

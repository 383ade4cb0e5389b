package journal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
	"termhost/ptypool/termlog"
)

// now is the time of everything in these tests.
var now = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// onDisk is the place of a log of the least size, in files.
var onDisk = journal.Place{Size: termlog.MinSize}

// describe returns the description of a terminal that runs.
func describe(name string) *journal.Description {
	return &journal.Description{
		URI: ahp.TerminalURI(name), Name: name, Created: now, IsPty: true, Tag: "tag",
		Creator: authz.Principal{ID: "SHA256:k", Name: "ann", Role: authz.Operator,
			NoForward: true},
		Outline: journal.Outline{Title: name, Cols: 80, Rows: 24, Holder: holder("ssh:k")},
	}
}

func holder(clientID string) journal.Holder {
	return journal.Holder{Claim: journal.Claim(ahp.ClientClaim(clientID)), Principal: "SHA256:k",
		Name: "ann"}
}

// folders makes the folder of terminals in a state folder of the test's own.
func folders(t *testing.T, stateDir string) journal.Folders {
	t.Helper()
	f, err := journal.OpenFolders(stateDir)
	must(t, err)
	return f
}

// begin makes the journal of a terminal that runs, and returns its folder.
func begin(t *testing.T, j *journal.Journal) (dir string) {
	t.Helper()
	dir = folders(t, t.TempDir()).New()
	must(t, j.Begin(dir, onDisk, &journal.Spares{}, describe("x")))
	return dir
}

// event logs an action.
func event(t *testing.T, j *journal.Journal, ev journal.Event, a ahp.Action) {
	t.Helper()
	ev.Action = ahp.AppendAction(nil, a, ahp.ShapeLifecycle)
	must(t, j.Record(termlog.Event, now, ev.Encode()))
}

// restored returns what the next host finds in a copy of a folder, as if the present host were
// killed.
func restored(t *testing.T, dir string) *journal.Remains {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "x")
	must(t, os.CopyFS(copied, os.DirFS(dir)))
	r, err := journal.Restore(copied, nil, now)
	must(t, err)
	t.Cleanup(r.Close)
	return r
}

// printed returns the output that a log has, with gaps in brackets.
func printed(t *testing.T, read func(func(termlog.Record) bool) error) string {
	t.Helper()
	var b strings.Builder
	must(t, read(func(r termlog.Record) bool {
		switch r.Kind {
		case termlog.Data:
			b.Write(r.Payload)
		case termlog.Gap:
			b.WriteString("[" + string(r.Payload) + "]")
		}
		return true
	}))
	return b.String()
}

// logOf reads a log from its beginning.
func logOf(log *termlog.Log) func(func(termlog.Record) bool) error {
	return func(visit func(termlog.Record) bool) error { return log.Read(0, visit) }
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recordsOf returns a function that reads all of a journal's log.
func recordsOf(j *journal.Journal) func(func(termlog.Record) bool) error {
	return func(visit func(termlog.Record) bool) error {
		return j.Records(journal.WholeLog, visit)
	}
}

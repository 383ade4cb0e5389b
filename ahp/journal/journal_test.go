package journal_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ptypool/smalldisk"
	"termhost/ptypool/termlog"
)

// Each kind of record changes the outline, and the next host reads it.
func TestTheNextHostRestoresWhatWasLogged(t *testing.T) {
	t.Parallel()
	var j journal.Journal
	dir := begin(t, &j)
	must(t, j.Checkpoint(&journal.Snapshot{Outline: describe("x").Outline}, now))
	must(t, j.Output([]byte("one "), now))
	must(t, j.Record(termlog.Resize, now, termlog.SizePayload(100, 30)))
	event(t, &j, journal.Event{Renamed: true}, ahp.TerminalTitleChanged{Title: "mine"})
	event(t, &j, journal.Event{Parsed: true}, ahp.TerminalCommandExecuted{CommandID: "x-1"})
	code := 3
	event(t, &j, journal.Event{}, ahp.TerminalCommandFinished{CommandID: "x-1", ExitCode: &code})
	by, loans := holder("agent"), &journal.Loans{Prior: []journal.Holder{holder("ssh:k")}}
	event(t, &j, journal.Event{Holder: &by, Loans: loans},
		ahp.TerminalClaimed{Claim: ahp.ClientClaim("agent")})
	owner := &journal.OwnerMark{Seq: 7, N: 3, End: 7}
	must(t, j.Record(termlog.Event, now, journal.Event{Owner: owner}.Encode()))
	rang := &journal.Missed{Want: "bell", Since: now}
	for _, missed := range []map[string]*journal.Missed{
		{"": rang, "ann": {}, "bob": {}}, {"ann": rang, "bob": nil}, {"ann": {}},
	} {
		must(t, j.Record(termlog.Event, now, journal.Event{Missed: missed}.Encode()))
	}
	must(t, j.Output([]byte("two"), now))

	want := *describe("x")
	want.Format = journal.Format
	want.Outline = journal.Outline{Title: "mine", Renamed: true, Cols: 100, Rows: 30,
		Holder: by, Loans: loans, Owner: owner, Detection: true, Commands: 1,
		Last:   &journal.Command{ID: "x-1", Began: now, Over: true, ExitCode: &code},
		Ran:    []journal.Command{{ID: "x-1", Began: now, Over: true, ExitCode: &code}},
		Missed: map[string]*journal.Missed{"": rang, "ann": {}}}
	r := restored(t, dir)
	if got := asJSON(t, r.Description); got != asJSON(t, want) {
		t.Errorf("the description is\n%s\nwant\n%s", got, asJSON(t, want))
	}
	if r.Description.Creator != want.Creator || r.Damaged || r.FromKeeper || r.Memory {
		t.Errorf("restored: %+v", r)
	}
	if got := printed(t, logOf(r.Log)); got != "one two" {
		t.Errorf("it printed %q", got)
	}

	var next journal.Journal
	must(t, next.Continue(r, onDisk))
	if next.Position() != j.Position() {
		t.Errorf("it goes on at %d, and ended at %d", next.Position(), j.Position())
	}
	must(t, next.Output([]byte(" three"), now))
	if got := printed(t, recordsOf(&next)); got != "one two three" {
		t.Errorf("the next host adds to it, and it has %q", got)
	}
	end := &journal.Ending{Status: termlog.Status{Code: 4, At: now}, Why: "by ann"}
	must(t, next.End(end, func() *journal.Description { return &r.Description }))
	if got := printed(t, recordsOf(&next)); got != "one two three" {
		t.Errorf("when it has ended it has %q", got)
	}
	last := restored(t, r.Dir)
	if asJSON(t, last.Description.End) != asJSON(t, end) {
		t.Errorf("it has ended with %+v", last.Description.End)
	}
	// The log may be gone.
	must(t, os.Remove(filepath.Join(r.Dir, "log.0")))
	if last = restored(t, r.Dir); asJSON(t, last.Description.End) != asJSON(t, end) {
		t.Errorf("without a log it has ended with %+v", last.Description.End)
	}
}

func TestInvalidDescriptionsAreRefused(t *testing.T) {
	t.Parallel()
	text := string(describe("x").Encode())
	for _, test := range []struct{ was, is, why string }{
		{`"format":1`, `"format":2`, "format 2"},
		{`"cols":80`, `"cols":0`, "not a terminal's"},
		{`terminal:/x"`, `terminal:"`, "not a terminal's"},
		{`"name":"x"`, `"name":"a b"`, "not a terminal's"},
		{`{"format"`, `"format"`, "damaged"},
	} {
		dir := t.TempDir()
		changed := strings.Replace(text, test.was, test.is, 1)
		must(t, os.WriteFile(filepath.Join(dir, "meta"), []byte(changed), 0o600))
		if _, err := journal.Restore(dir, nil, now); err == nil ||
			!strings.Contains(err.Error(), test.why) {
			t.Errorf("%s: %v", changed, err)
		}
	}
	if _, err := journal.Restore(t.TempDir(), nil, now); err == nil {
		t.Error("an empty folder is a terminal's")
	}
}

// A creator with a restriction of a newer version may do nothing, rather than more than it should.
func TestARestrictionOfANewerVersionIsNotLost(t *testing.T) {
	t.Parallel()
	text := strings.Replace(string(describe("x").Encode()), `"noForward":true`,
		`"noForward":true,"noCreate":true`, 1)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "meta"), []byte(text), 0o600))
	for range 2 { // also when this version has written it again
		d := restored(t, dir).Description
		if d.Creator.Valid(now) == nil || d.Creator.ID != "SHA256:k" || !d.Creator.NoForward {
			t.Errorf("the creator is %+v", d.Creator)
		}
		must(t, os.WriteFile(filepath.Join(dir, "meta"), d.Encode(), 0o600))
	}
}

func TestOutputThatCannotBeWrittenIsAGap(t *testing.T) {
	t.Parallel()
	state := smalldisk.New(t, "512k")
	dir := folders(t, state).New()
	var j journal.Journal
	must(t, j.Begin(dir, onDisk, &journal.Spares{}, describe("x")))
	must(t, j.Output([]byte("before"), now))
	full := smalldisk.Fill(t, state, "full", 0)
	failed := 0
	for range 100 {
		if j.Output(make([]byte, 1000), now) != nil {
			failed++
		}
	}
	if failed != 1 || j.NotKept() != "disk full" || j.CheckpointDue() {
		t.Errorf("it failed %d times, and is not kept because of %q", failed, j.NotKept())
	}
	if err := j.Records(journal.WholeLog, func(termlog.Record) bool { return true }); !errors.Is(err,
		journal.ErrNotLogged) {
		t.Errorf("what is not there is read: %v", err)
	}
	must(t, os.Remove(full))
	j.Retry(now)
	if j.NotKept() != "" || !j.CheckpointDue() {
		t.Errorf("it is not kept because of %q", j.NotKept())
	}
	must(t, j.Output([]byte("after"), now))
	got := printed(t, logOf(restored(t, dir).Log))
	got = strings.ReplaceAll(strings.ReplaceAll(got, "[disk full]", "|"), "\x00", "")
	if !strings.HasPrefix(got, "before|") || !strings.HasSuffix(got, "|after") {
		t.Errorf("it has %q", got)
	}
	if j.Position() != int64(len("before")+100*1000+len("after")) {
		t.Errorf("it is at %d", j.Position())
	}
}

func TestALogThatIsCutIsDamaged(t *testing.T) {
	t.Parallel()
	var j journal.Journal
	dir := begin(t, &j)
	must(t, j.Output([]byte("one "), now))
	must(t, j.Output([]byte("two"), now))
	file := filepath.Join(dir, "log.0")
	st, err := os.Stat(file)
	must(t, err)
	must(t, os.Truncate(file, st.Size()-1))
	r := restored(t, dir)
	if got := printed(t, logOf(r.Log)); !r.Damaged || r.Description.Damage == "" ||
		got != "one ["+termlog.Damaged+"]" {
		t.Errorf("damaged %v, %q: it has %q", r.Damaged, r.Description.Damage, got)
	}
	// A log in a newer version's format is not read, and makes room for another one.
	newer, err := os.ReadFile(file)
	must(t, err)
	newer[6]++ // the format: see package termlog
	sum := crc32.Checksum(newer[:28], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(newer[28:], sum)
	must(t, os.WriteFile(file, newer, 0o600))
	r = restored(t, dir)
	if r.Log != nil || !r.Damaged {
		t.Fatalf("it is read: %+v", r)
	}
	var next journal.Journal
	must(t, next.Continue(r, onDisk))
	must(t, next.Output([]byte("new"), now))
	if got := printed(t, recordsOf(&next)); got != "new" {
		t.Errorf("it has %q", got)
	}
	aside, _ := filepath.Glob(filepath.Join(r.Dir, "log.*.damaged"))
	if len(aside) != 1 {
		t.Errorf("aside are %q", aside)
	}
}

func TestARemovedTerminalIsNotRestored(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	all := folders(t, state)
	var gone, stays, none journal.Journal
	must(t, gone.Begin(all.Of("gone"), onDisk, &journal.Spares{}, describe("x")))
	must(t, stays.Begin(all.Of("stays"), onDisk, &journal.Spares{}, describe("y")))
	if folder := gone.Remove(); folder != all.Of("gone.gone") || gone.Remove() != "" {
		t.Errorf("to delete is %q", folder)
	}
	must(t, gone.Output([]byte("late"), now))
	must(t, gone.Describe(describe("x"), now))
	must(t, gone.Output([]byte("later"), now))
	for _, name := range []string{".spill-1", "file", "bad/meta"} {
		must(t, os.MkdirAll(filepath.Dir(all.Of(name)), 0o700))
		must(t, os.WriteFile(all.Of(name), nil, 0o600))
	}
	if to := journal.SetAside(all.Of("bad")); to != all.Of("bad.damaged") {
		t.Errorf("it is set aside as %q", to)
	}
	left, err := all.Left()
	want := journal.Left{Terminals: []string{"stays"}, Removed: []string{"gone"},
		Others: []string{all.Of("file")}}
	if err != nil || asJSON(t, left) != asJSON(t, want) {
		t.Errorf("left are %+v, %v", left, err)
	}
	entries, err := os.ReadDir(string(all))
	if err != nil || len(entries) != 3 { // bad.damaged, file, stays
		t.Errorf("there are %v, %v", entries, err)
	}
	must(t, none.Output([]byte("x"), now))
	must(t, none.Describe(describe("z"), now))
	if none.Position() != 0 || none.Keep().ID != "" || none.Remove() != "" {
		t.Error("the zero Journal keeps something")
	}
}

func TestScratchFilesHaveNoName(t *testing.T) {
	t.Parallel()
	all := folders(t, t.TempDir())
	f, err := all.Scratch()
	must(t, err)
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), 10); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(string(all)); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if _, err := (all + "/missing").Scratch(); err == nil {
		t.Error("there is one in a folder that is not there")
	}
}

func TestATruncatedSnapshotIsRefused(t *testing.T) {
	t.Parallel()
	s := journal.Snapshot{Outline: describe("x").Outline, Position: 7, Marks: "m",
		Redraw: []byte("\x1b[2Jdrawn")}
	p := s.Encode()
	got, ok := journal.ParseSnapshot(p)
	if !ok || asJSON(t, got) != asJSON(t, s) || string(got.Redraw) != string(s.Redraw) {
		t.Errorf("it becomes %+v, %v", got, ok)
	}
	for n := range len(p) - len(s.Redraw) {
		if _, ok := journal.ParseSnapshot(p[:n]); ok {
			t.Errorf("%d bytes of it are a snapshot", n)
		}
	}
}

// Each segment begins with a checkpoint, or has one soon.
func TestALogThatHasLostItsBeginningCanBeFollowed(t *testing.T) {
	t.Parallel()
	var j journal.Journal
	dir := begin(t, &j)
	s := journal.Snapshot{Outline: describe("x").Outline}
	s.Outline.Title = "later"
	checkpoints := 0
	for range 3 * termlog.MinSize / 1000 {
		if j.CheckpointDue() {
			checkpoints++
			must(t, j.Checkpoint(&s, now))
		}
		if j.CheckpointDue() {
			t.Fatal("a checkpoint is due right behind one")
		}
		must(t, j.Output(make([]byte, 1000), now))
	}
	r := restored(t, dir)
	if r.Log.First() == 0 || checkpoints < 3 || r.Description.Outline.Title != "later" {
		t.Errorf("it begins at %d, there were %d checkpoints, and its title is %q",
			r.Log.First(), checkpoints, r.Description.Outline.Title)
	}
	if next := (&journal.Journal{}); next.Continue(r, onDisk) != nil || next.CheckpointDue() {
		t.Error("a checkpoint is due in a log that is whole")
	}
}

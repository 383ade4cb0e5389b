package journal_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// The state folder is that of a host of an older version, from before this package, that was
// killed. Its format stays readable.
func TestTheFormatOfAnOlderVersionIsRead(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	must(t, os.CopyFS(state, os.DirFS("testdata/older")))
	at := time.Date(2026, 11, 23, 6, 37, 57, 0, time.UTC)
	carol := authz.Principal{ID: "SHA256:carol", Name: "carol", Role: authz.Operator,
		Fingerprint: "SHA256:carol"}
	restore := func(name string) (d journal.Description, text string) {
		r, err := journal.Restore(filepath.Join(state, "terms", name), nil, now)
		must(t, err)
		defer r.Close()
		if d = r.Description; d.URI != ahp.TerminalURI(name) || d.Name != name || r.Damaged ||
			!d.Created.Truncate(time.Second).Equal(at) {
			t.Errorf("%s is %+v", name, r)
		}
		return d, printed(t, logOf(r.Log))
	}

	d, text := restore("x")
	restricted := carol
	restricted.NoForward, restricted.Opens = true, "localhost:80"
	o := d.Outline
	if d.Creator != restricted || !d.Guarded || !d.IsPty || d.Tag != "t" || d.End != nil {
		t.Errorf("x is %+v", d)
	}
	if o.Cols != 80 || o.Rows != 24 || o.Holder.Name != "alice" || o.Loans == nil ||
		len(o.Loans.Lent) != 1 || len(o.Loans.Prior) != 2 || o.Commands != 1 || !o.Last.Over ||
		*o.Last.ExitCode != 3 || o.Cwd != "file:///" {
		t.Errorf("x has the outline %s", asJSON(t, o))
	}
	if len(text) < 50 {
		t.Errorf("x has printed %q", text)
	}

	d, text = restore("laptop")
	if d.Creator != carol || !d.Client || d.Grace != 1000*time.Hour || d.Outline.Owner == nil ||
		text != "before " {
		t.Errorf("laptop is %s, and has printed %q", asJSON(t, d), text)
	}

	d, text = restore("done")
	if d.Creator.Token != "bot" || d.End == nil || d.End.Code != 7 || text != "done\r\n" {
		t.Errorf("done is %s, and has printed %q", asJSON(t, d), text)
	}
	if st := d.End.Status; st.Logged != 6 || !st.At.Truncate(time.Second).Equal(at) {
		t.Errorf("done has ended with %+v", st)
	}

	var client *journal.Client
	used := 0
	must(t, journal.ReadNotes(state, func(n journal.Note) {
		if n.Client != nil {
			client = n.Client
		}
		if n.Used != nil {
			used++
		}
	}))
	if client == nil || client.ID != "owner" || client.Number != 1 || used != 2 {
		t.Errorf("the client is %+v, and %d have used terminals", client, used)
	}
	hw := journal.HighWater{Dir: state}
	if seq, err := hw.Begin(time.Unix(0, 0)); err != nil || seq < uint64(at.UnixMicro()) {
		t.Errorf("the serverSeq begins at %d, %v", seq, err)
	}
}

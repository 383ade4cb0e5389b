package logs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/authz"
)

// auditOf returns the records of an audit log into which do writes.
func auditOf(t *testing.T, do func(*Audit)) []map[string]any {
	t.Helper()
	var w bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		audit, err := OpenAudit(ToStderr, 0, &w, nil)
		if err != nil {
			t.Fatal(err)
		}
		do(audit)
		if err := audit.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return lines(t, w.Bytes())
}

// created returns which terminals one has made by a log, and how many records say so.
func created(list []map[string]any, who string) (terminals string, records int) {
	var names []string
	for _, r := range list {
		if r["event"] != authz.AuditCreate || r["who"] != who {
			continue
		}
		records++
		if several, ok := r["terminals"].(string); ok {
			names = append(names, several)
		} else {
			names = append(names, r["terminal"].(string))
		}
	}
	return strings.Join(names, " "), records
}

// TestAStormOfStrangersLeavesWhatOthersDidApart has peers of more addresses than are counted apart
// come and be dropped for a minute.
func TestAStormOfStrangersLeavesWhatOthersDidApart(t *testing.T) {
	got := auditOf(t, func(audit *Audit) {
		for i := range 2 * maxCounts {
			audit.Info(authz.AuditDropped, "from", fmt.Sprintf("10.0.%d.%d:22", i/250, i%250))
		}
		for _, name := range []string{"one", "two", "three"} {
			audit.Info(authz.AuditCreate, "terminal", name, "who", "bob")
		}
	})
	if names, records := created(got, "bob"); names != "one two three" || records != 3 {
		t.Errorf("%d records say that bob made %q", records, names)
	}
}

// TestLoginsLeaveWhatOneDoesApart has somebody look every second whether something has come, and a
// program of theirs do more than its share.
func TestLoginsLeaveWhatOneDoesApart(t *testing.T) {
	got := auditOf(t, func(audit *Audit) {
		for i := range 3 * burst {
			audit.Info(authz.AuditLogin, "who", "ann", "connection", i)
			audit.Info(authz.AuditLogout, "who", "ann", "connection", i)
			audit.Info(authz.AuditAttach, "who", "ann/bot", "terminal", fmt.Sprint("t", i))
			time.Sleep(100 * time.Millisecond)
		}
		for _, name := range []string{"one", "two", "three"} {
			audit.Info(authz.AuditCreate, "terminal", name, "who", "ann")
		}
	})
	if names, records := created(got, "ann"); names != "one two three" || records != 3 {
		t.Errorf("%d records say that ann made %q", records, names)
	}
}

// TestWhatIsSummedUpNamesItsTerminals: beyond an account's share no terminal is left out.
func TestWhatIsSummedUpNamesItsTerminals(t *testing.T) {
	got := auditOf(t, func(audit *Audit) {
		for i := range burst {
			audit.Info(authz.AuditAttach, "who", "ann", "terminal", fmt.Sprint("t", i))
		}
		for _, name := range []string{"one", "two", "three", "two"} {
			audit.Info(authz.AuditCreate, "terminal", name, "who", "ann")
		}
		for range 2 {
			audit.Info(authz.AuditRename, "who", "ann", "terminal", strings.Repeat("x", 2*maxNames))
		}
		time.Sleep(2 * overTime)
		for range 2 * maxNames {
			audit.Info(authz.AuditDispose, "who", "ann", "terminal", fmt.Sprint("t", time.Now().UnixNano()))
			time.Sleep(time.Millisecond)
		}
	})
	if names, records := created(got, "ann"); names != "one two three" || records != 2 {
		t.Errorf("%d records say that ann made %q", records, names)
	}
	for _, r := range got {
		if names, _ := r["terminals"].(string); len(names) > maxNames+len(" ...") {
			t.Errorf("a record names %d bytes of terminals", len(names))
		}
	}
}

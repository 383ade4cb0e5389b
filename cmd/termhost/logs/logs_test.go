package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/authz"
)

// lines returns the JSON objects of a log.
func lines(t *testing.T, text []byte) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, record)
	}
	return list
}

func TestARefusalThatRepeatsIsOneRecordASecondWithACount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		log, _ := New(&w)
		for i := range 1000 { // in 2.5 s, from another port and with another reason each
			log.Info("token refused", "remote", fmt.Sprintf("192.0.2.1:%d", i), "reason", i)
			time.Sleep(2500 * time.Microsecond)
		}
		time.Sleep(3 * time.Second)
		log.Info("token refused", "remote", "192.0.2.1:9", "reason", "late")
		log.With("remote", "192.0.2.2:1").Info("token refused", "reason", "elsewhere")
		synctest.Wait()
		got, total := lines(t, w.Bytes()), 0
		for _, record := range got {
			n := 1
			if count, ok := record["count"]; ok {
				n = int(count.(float64))
			}
			total += n
		}
		if len(got) < 5 || len(got) > 7 || total != 1002 {
			t.Errorf("%d records count %d refusals:\n%s", len(got), total, &w)
		}
	})
}

func TestWhatDiffersIsNotSummedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		log, _ := New(&w)
		for i := range 100 {
			log.Info("terminal created", "name", fmt.Sprint("agent-", i), "principal", "ann")
		}
		synctest.Wait()
		if got := len(lines(t, w.Bytes())); got != 100 {
			t.Errorf("%d records of 100 terminals", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := len(lines(t, w.Bytes())); got != 100 {
			t.Errorf("%d records of 100 terminals, later", got)
		}
	})
}

func TestManySourcesDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		log, flush := New(&w)
		for i := range 20_000 {
			log.Info("startup dropped", "remote", fmt.Sprintf("10.0.%d.%d:22", i/250, i%250))
		}
		flush()
		synctest.Wait()
		got, total := lines(t, w.Bytes()), 0
		for _, record := range got {
			total++
			if count, ok := record["count"]; ok {
				total += int(count.(float64)) - 1
			}
		}
		if len(got) > maxCounts+2 || total != 20_000 {
			t.Errorf("%d records count %d", len(got), total)
		}
	})
}

func TestDroppedStartupsAreSummedPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		audit, err := OpenAudit(ToStderr, 0, &w, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 600 { // in two minutes
			audit.Info(authz.AuditDropped, "from", fmt.Sprintf("192.0.2.1:%d", i), "reason", "full")
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := lines(t, w.Bytes()); len(got) != 3 || got[0]["count"] != nil ||
			got[1]["count"].(float64)+got[2]["count"].(float64) != 599 {
			t.Errorf("the log has %d records:\n%s", len(got), &w)
		}
	})
}

func TestNobodyTurnsTheAuditLogOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		audit, err := OpenAudit(ToStderr, 0, &w, nil)
		if err != nil {
			t.Fatal(err)
		}
		const all = 10 * burst
		for i := range all {
			time.Sleep(time.Millisecond)
			audit.Info("create", "terminal", fmt.Sprint("t", i), "who", fmt.Sprint("ann/bot-", i%7))
		}
		audit.Info("create", "terminal", "mine", "who", "bob")
		synctest.Wait()
		if n := strings.Count(w.String(), `"who":"ann/`); n > burst+1 {
			t.Errorf("ann has %d records", n)
		}
		if !strings.Contains(w.String(), `"terminal":"mine","who":"bob"`) {
			t.Error("bob has none")
		}
		if err := audit.Close(); err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, record := range lines(t, w.Bytes()) {
			n := 1
			if count, ok := record["count"]; ok {
				n = int(count.(float64))
			}
			total += n
		}
		if total != all+1 {
			t.Errorf("%d creations are told of %d", total, all+1)
		}
	})
}

// TestAFloodOfLoginsDoesNotTurnTheAuditLogOver: each is of another connection and from another port,
// so that no record is like another, and all of them would be more than the file and its
// predecessor hold.
func TestAFloodOfLoginsDoesNotTurnTheAuditLogOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const logins, most = 20_000, 1 << 20
		file := filepath.Join(t.TempDir(), "audit.log")
		audit, err := OpenAudit(file, most, nil, slog.Default())
		if err != nil {
			t.Fatal(err)
		}
		record := func(event, who, key string, port int) {
			p := authz.Principal{ID: key}
			from := authz.Source{ID: fmt.Sprintf("c%d", port), From: fmt.Sprintf("192.0.2.1:%d", port),
				Door: "ssh"}
			audit.Info(event, append([]any{"who", who}, from.Attrs(p)...)...)
		}
		record(authz.AuditLogin, "bob", "SHA256:bob", 1)
		for i := range logins { // in a bit more than three minutes
			record(authz.AuditLogin, "ann", "SHA256:ann", i)
			time.Sleep(10 * time.Millisecond)
			record(authz.AuditLogout, "ann", "SHA256:ann", i)
		}
		record(authz.AuditLogout, "bob", "SHA256:bob", 1)
		if err := audit.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file + ".1"); err == nil {
			t.Errorf("the log is turned over, and has %d bytes", len(text))
		}
		total, single, bobs := map[any]int{}, 0, 0
		for _, r := range lines(t, text) {
			switch count, summed := r["count"].(float64); {
			case r["who"] == "bob":
				bobs++
			case summed:
				total[r["event"]] += int(count)
			default:
				total[r["event"]]++
				single++
			}
		}
		if bobs != 2 || single < burst/2 || total["login"] != logins || total["logout"] != logins {
			t.Errorf("bob has %d records, ann %d that are single, for %v", bobs, single, total)
		}
	})
}

// TestDenialsAreSummedUpByWhatTheyAreAbout: a reason does not make them another, a terminal does.
func TestDenialsAreSummedUpByWhatTheyAreAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		audit, err := OpenAudit(ToStderr, 0, &w, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			audit.Info(authz.AuditDenied, "terminal", fmt.Sprint("t", i%3), "who", "ann",
				"verb", "input", "reason", fmt.Sprint("no ", i))
		}
		if err := audit.Close(); err != nil {
			t.Fatal(err)
		}
		if got := lines(t, w.Bytes()); len(got) != 6 || got[5]["count"] != 9.0 {
			t.Errorf("the log has %d records:\n%s", len(got), &w)
		}
	})
}

func TestAuditRecordsAreJSONLinesWithAnEvent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.log")
	audit, err := OpenAudit(file, 1<<20, nil, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	audit.Info("login", "who", "ann", "from", "192.0.2.1:1", "door", "ssh")
	for range 3 {
		audit.Info("refused", "from", "192.0.2.2:1", "reason", "the key is not authorised")
	}
	if err := audit.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := lines(t, text)
	if len(got) != 3 || got[0]["event"] != "login" || got[0]["who"] != "ann" ||
		got[0]["level"] != nil || got[0]["msg"] != nil || got[2]["count"] != float64(2) {
		t.Errorf("the file has\n%s", text)
	}
	when, err := time.Parse(time.RFC3339Nano, got[0]["time"].(string))
	if err != nil || when.Location() != time.UTC {
		t.Errorf("time %v, %v", got[0]["time"], err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestTheAuditLogIsBoundedAndItsLinesAreWhole(t *testing.T) {
	const most = 4 << 10
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte(`{"event":"half`), 0o600); err != nil { // of a killed host
		t.Fatal(err)
	}
	audit, err := OpenAudit(file, most, nil, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		audit.Info("create", "terminal", fmt.Sprint("t", i))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			half, rest, _ := bytes.Cut(text, []byte("\n"))
			if string(half) != `{"event":"half` || len(lines(t, rest)) != 1 {
				t.Errorf("after half a line: %q", text)
			}
		}
		if len(text) > most {
			t.Fatalf("%d bytes of %d", len(text), most)
		}
	}
	old, err := os.ReadFile(file + ".1")
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	last := lines(t, append(old[bytes.IndexByte(old, '\n')+1:], now...))
	if last[len(last)-1]["terminal"] != "t99" || audit.Close() != nil {
		t.Errorf("the last one is %v", last[len(last)-1])
	}
}

func TestAnAuditLogThatWasMovedAwayGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.log")
	audit, err := OpenAudit(file, 1<<20, nil, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	audit.Info("one")
	if err := os.Rename(file, file+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := audit.Reopen(); err != nil {
		t.Fatal(err)
	}
	audit.Info("two")
	text, err := os.ReadFile(file)
	if got := lines(t, text); err != nil || len(got) != 1 || got[0]["event"] != "two" {
		t.Errorf("the new file has %q, %v", text, err)
	}
}

func TestAnAuditRecordThatCannotBeWrittenIsTold(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	var w bytes.Buffer
	log, _ := New(&w)
	audit, err := OpenAudit("/dev/full", 1<<20, nil, log)
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	audit.Info("login", "who", "ann")
	if !strings.Contains(w.String(), "an audit record is lost") {
		t.Errorf("the log says %q", w.String())
	}
}

// A stranger dials in a loop, each time from another port and with another key.
func TestAStrangerAtTheFleetsDoorIsSummedPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		log, flush := New(&w)
		for i := range 6000 { // in two minutes
			from := fmt.Sprintf("192.0.2.1:%d", i)
			log.Warn("a stranger was kept out of the fleet", "remote", from, "reason", "no key")
			log.Warn("fleet server", "remote", from, "reason", fmt.Sprint("cid:", i, " - error"))
			time.Sleep(20 * time.Millisecond)
		}
		flush()
		synctest.Wait()
		if got := lines(t, w.Bytes()); len(got) > 6 {
			t.Errorf("the log has %d records:\n%s", len(got), &w)
		}
	})
}

package rpc_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// dropped is the answer to a request termhost/drop.
type dropped struct {
	Result struct {
		Drop        int
		Path, Paste string
	}
	Error *struct {
		Code    int
		Message string
	}
}

func drop(t *testing.T, p *pipe, params string) (a dropped) {
	t.Helper()
	p.sendf(t, `{"jsonrpc":"2.0","id":9,"method":"termhost/drop","params":{%s}}`, params)
	for {
		msg := p.next(t)
		if msg == nil {
			t.Fatal("the connection has ended")
		}
		if !strings.Contains(string(msg), `"id":9,`) {
			continue
		}
		if err := json.Unmarshal(msg, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
}

func TestAFileForAProgramComesInPieces(t *testing.T) {
	var dir string
	h := hosttest.New(t, func(cfg *host.Config) { dir = filepath.Join(cfg.StateDir, "drops") })
	p := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "x", "exec cat")
	run(t, p, "a", "other", "exec cat")
	const x, other = `"channel":"ahp-terminal:/x",`, `"channel":"ahp-terminal:/other",`
	piece := func(text string) string {
		return `"data":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"`
	}
	first := drop(t, p, x+`"more":true,`+piece("one "))
	if first.Error != nil || first.Result.Drop == 0 || first.Result.Path != "" {
		t.Fatalf("the first piece: %+v", first)
	}
	if wrong := drop(t, p, other+`"drop":1,"more":true,`+piece("!")); wrong.Error == nil {
		t.Error("a piece of a file goes to another terminal")
	}
	last := drop(t, p, x+`"drop":1,"name":"../it's.png",`+piece("two"))
	want := filepath.Join(dir, "x", "it-s.png")
	if last.Result.Path != want || last.Result.Paste != "'"+want+"' " {
		t.Errorf("the last piece: %+v", last)
	}
	if text, err := os.ReadFile(want); string(text) != "one two" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if again := drop(t, p, x+`"drop":1,`+piece("!")); again.Error == nil {
		t.Error("a file goes on after its end")
	}

	// More than is taken.
	big := piece(strings.Repeat("x", 700<<10))
	n := drop(t, p, x+`"more":true,`+big).Result.Drop
	var a dropped
	for range host.MaxDropBytes/(700<<10) + 1 {
		if a = drop(t, p, x+`"more":true,"drop":`+string(rune('0'+n))+`,`+big); a.Error != nil {
			break
		}
	}
	if a.Error == nil || !strings.Contains(a.Error.Message, "10 MiB") {
		t.Errorf("a file that is too large: %+v", a)
	}
	for range 4 {
		a = drop(t, p, x+`"more":true,`+piece("!"))
	}
	if b := drop(t, p, x+piece("!")); a.Error != nil || b.Error == nil {
		t.Errorf("the fourth at once: %+v, the fifth: %+v", a, b)
	}
	// What is not complete goes with the connection.
	p.Close("it is lost")
	hosttest.Eventually(t, "only the whole file is left", func() bool {
		entries, err := os.ReadDir(filepath.Dir(want))
		return err == nil && len(entries) == 1
	})
	term, err := hosttest.Conn(t, h, principals()["bob"]).Lookup("ahp-terminal:/x")
	hosttest.Check(t, err)
	hosttest.Check(t, hosttest.Dispose(h, principals()["bob"], term))
	if _, err := os.Stat(want); !os.IsNotExist(err) {
		t.Errorf("the terminal is gone, its file is not: %v", err)
	}
}

// Files are for whoever may type; what an agent does to a guarded terminal needs a yes, and a file
// gets none.
func TestWhoMayNotTypeGivesNoFiles(t *testing.T) {
	h := hosttest.New(t)
	owner := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, owner, "a")
	run(t, owner, "a", "x", "exec cat")
	const file = `"channel":"ahp-terminal:/x","data":"eA=="`
	for who, p := range map[string]*pipe{
		"an observer":                  serve(t, h, principals()["eve"], rpc.Options{}),
		"an admin without the claim":   serve(t, h, principals()["alice"], rpc.Options{}),
		"a page that does not hold it": serve(t, h, principals()["page"], rpc.Options{}),
	} {
		greet(t, p, "b-"+strings.ReplaceAll(who, " ", "-"))
		if a := drop(t, p, file); a.Error == nil || a.Error.Code != -32009 {
			t.Errorf("%s: %+v", who, a)
		}
	}
	person := hosttest.Conn(t, h, principals()["alice"])
	term, err := person.Lookup("ahp-terminal:/x")
	hosttest.Check(t, err)
	if a := drop(t, owner, file); a.Error != nil {
		t.Errorf("the holder: %+v", a)
	}
	hosttest.Check(t, person.SetGuard(term, true))
	if a := drop(t, owner, file); a.Error == nil || !strings.Contains(a.Error.Message, "guarded") {
		t.Errorf("an agent, guarded: %+v", a)
	}
	if a := drop(t, owner, `"channel":"ahp-terminal:/none","data":"eA=="`); a.Error == nil {
		t.Errorf("no terminal: %+v", a)
	}
	if a := drop(t, owner, `"channel":"ahp-terminal:/x","data":"?"`); a.Error == nil {
		t.Errorf("no base64: %+v", a)
	}
}

package host_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ptypool/nonce"
)

// TestTheLogOfAnOlderVersionIsReadWithTheNonceInIt: its marks end with the nonce that its
// description has, and what stands in a nonce's place today is nothing to it.
func TestTheLogOfAnOlderVersionIsReadWithTheNonceInIt(t *testing.T) {
	t.Parallel()
	const old = "OLDOLDOLDOLDOLDOLDOLDOLDOL"
	h := hosttest.New(t)
	mark := func(text, nonce string) string { return `\033]633;` + text + ";" + nonce + `\a` }
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Argv: sh("printf '" +
		mark("A", old) + "$ " + mark("E;make all", old) + mark("C", old) + `made\r\n` +
		mark("D;9", nonce.Genuine) + mark("D;3", old) + "'")})
	if err != nil {
		t.Fatal(err)
	}
	<-term.Done()
	dir := killed(t, h)
	metas, err := filepath.Glob(filepath.Join(dir, "terms", "*", "meta"))
	if err != nil || len(metas) != 1 {
		t.Fatal(metas, err)
	}
	text, err := os.ReadFile(metas[0])
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"marker"`), []byte(`"nonce":"`+old+`","marker"`), 1)
	if err := os.WriteFile(metas[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	next := after(t, dir)
	var commands []string
	_, err = hosttest.Conn(t, next, carol).History(workOf(t, next, carol), host.Source{Terminal: find(t, next, "x")}).Read(workOf(t, next, carol), func(i *history.Item) bool {
		if i.Kind == history.Finished {
			commands = append(commands, i.Command.LineText())
			if i.Command.ExitCode == nil || *i.Command.ExitCode != 3 {
				t.Errorf("it ended with %v", i.Command.ExitCode)
			}
		}
		return true
	})
	if err != nil || strings.Join(commands, ",") != "make all" {
		t.Errorf("the commands are %q, %v", commands, err)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/journal"
	"termhost/cmd/termhost/bench"
	"termhost/ptypool/termlog"
)

// TestAStateFolderOfANewerTermhostIsLeftAlone is about one step back: a host that is started on the
// files of a later one says so, and touches neither them nor the programs that run.
func TestAStateFolderOfANewerTermhostIsLeftAlone(t *testing.T) {
	t.Parallel()
	meta := []byte(fmt.Sprintf(`"format":%d`, journal.Format))
	for _, c := range []struct {
		what, file string
		age        func(text []byte) []byte // makes it one format later
	}{
		{"description", "meta", func(text []byte) []byte {
			return bytes.Replace(text, meta, []byte(fmt.Sprintf(`"format":%d`, journal.Format+1)), 1)
		}},
		{"log", "log.0", func(text []byte) []byte {
			text = bytes.Clone(text)
			binary.LittleEndian.PutUint16(text[6:], termlog.Format+1)
			sum := crc32.Checksum(text[:28], crc32.MakeTable(crc32.Castagnoli))
			binary.LittleEndian.PutUint32(text[28:], sum)
			return text
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			start, state, do := keptHost(t, "")
			h := start()
			do("new", "-d", "-n", "a", "--", "sh", "-c",
				"echo pid=$$; while read x; do echo got $x; done")
			pid := printedPid(t, do, "a")
			_ = h.Stop(syscall.SIGKILL)
			files, err := filepath.Glob(filepath.Join(state, "terms/*", c.file))
			if err != nil || len(files) != 1 {
				t.Fatalf("there are %q, %v", files, err)
			}
			before := fileText(t, files[0])
			after := c.age([]byte(before))
			if string(after) == before {
				t.Fatal("the file is as it was")
			}
			writeFile(t, files[0], string(after))

			said, err := refused(t, h)
			for _, want := range []string{"a newer termhost has written", c.what, "format 2",
				"hint: run the newer termhost"} {
				if err == nil || !strings.Contains(said, want) {
					t.Errorf("serve ends with %v, without %q: %s", err, want, said)
				}
			}
			if fileText(t, files[0]) != string(after) || !alive(pid) {
				t.Errorf("the file is another one, or the program has ended (runs: %t)", alive(pid))
			}

			// The newer one comes back.
			writeFile(t, files[0], before)
			h = start()
			do("send", "--enter", "a", "more")
			do("wait", "--match", "got more", "a")

			// What runs can be ended by the older one, too, which leaves the files alone.
			_ = h.Stop(syscall.SIGKILL)
			after = c.age([]byte(fileText(t, files[0])))
			writeFile(t, files[0], string(after))
			do("stop")
			hosttest.Eventually(t, "the program ends", func() bool { return !alive(pid) })
			if left := keepersOf(t, state); len(left) > 0 {
				t.Errorf("the keepers %v are left", left)
			}
			if _, err := os.Stat(files[0]); err != nil {
				t.Error(err)
			}
		})
	}
}

// refused runs `termhost serve` with the configuration of a host that has ended, where it is to fail,
// and returns what it says.
func refused(t *testing.T, h *bench.Host) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "termhost", "serve", "-c", h.File)
	cmd.Env, cmd.WaitDelay = h.Cmd.Env, time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = nil // it serves
	}
	return string(out), err
}

// fileText returns what is in a file.
func fileText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

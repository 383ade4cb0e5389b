package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/config"
)

// farAway is how long what passes a distant socket takes, each way.
const farAway = 100 * time.Millisecond

// distant returns a configuration file for a host whose socket is reached from far away.
func distant(t *testing.T, socket string) (file string) {
	t.Helper()
	dir := hosttest.Dir(t)
	file = filepath.Join(dir, "far.toml")
	text := fmt.Sprintf("state_dir = %q\n", dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, config.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", socket)
			if err != nil {
				near.Close()
				continue
			}
			go travel(near, far)
			go travel(far, near)
		}
	}()
	return file
}

// travel passes on what is sent, as late as it would be from far away, until either side ends.
func travel(from, to net.Conn) {
	type piece struct {
		data []byte
		due  time.Time
	}
	way := make(chan piece, 1<<10)
	go func() {
		defer to.Close()
		for p := range way {
			<-time.After(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				from.Close()
			}
		}
	}()
	defer close(way)
	for {
		buf := make([]byte, 32<<10)
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		way <- piece{buf[:n], time.Now().Add(farAway)}
	}
}

// attachFar attaches to a bash of a host that is far away, with flags of termhost attach.
func attachFar(t *testing.T, flags string) *homeShell {
	t.Helper()
	start, state, do := keptHost(t, "")
	host := start()
	do("new", "-d", "-n", "work", "--", "env", "PS1=far> ", "bash", "--norc", "--noprofile")
	s := newHomeShell(t, host.Cmd.Env)
	s.types("termhost attach " + flags + " -c " + distant(t, filepath.Join(state, config.SocketName)) +
		" work\r")
	s.sees(`far> $`)
	return s
}

// What is typed far away is on the person's screen before the host can have answered; what a
// program reads without showing it is not, and is not shown later either.
func TestKeysAreShownBeforeAHostFarAwayHasEchoedThem(t *testing.T) {
	s := attachFar(t, "")
	// The first keys tell how far it is, and a machine that is busy takes its time.
	key := 0
	hosttest.Eventually(t, "a key is shown, underlined, before the round trip is over", func() bool {
		letter := string(rune('a' + key%26))
		key++
		read, typed := len(s.said.String()), time.Now()
		s.types(letter)
		early := false
		hosttest.Eventually(t, letter+" is shown", func() bool {
			said := s.said.String()[read:]
			early = early || strings.Contains(said, "\x1b[0;4m"+letter) && time.Since(typed) < 2*farAway
			return strings.Contains(escapes.ReplaceAllString(said, ""), letter)
		})
		return early
	})

	s.types("\x15read -s -p 'Se''cret: ' x; echo $x | tr '#' =\r")
	s.sees(`Secret: $`)
	read := len(s.said.String())
	for range 6 {
		s.types("#")
	}
	s.types("\r")
	s.sees(`======`)
	if said := s.said.String()[read:]; strings.Contains(said, "#") {
		t.Errorf("what is hidden is shown: %q", said)
	}
}

// With --predict never, nothing is shown that the host has not sent.
func TestKeysOfAHostFarAwayAreNotShownWhereTheyMustNot(t *testing.T) {
	s := attachFar(t, "--predict never")
	for _, letter := range "abcdefgh" {
		s.types(string(letter))
		s.sees(string(letter) + "$")
	}
	if said := s.said.String(); strings.Contains(said, "\x1b[0;4m") {
		t.Errorf("something is underlined: %q", said)
	}
}

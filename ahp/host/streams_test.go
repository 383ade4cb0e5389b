package host_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool"
)

// numbers returns n letters that do not repeat soon.
func numbers(n int) string {
	var b strings.Builder
	for i := range n / 8 {
		word := binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15)
		for j := range word {
			word[j] = 'a' + word[j]%16
		}
		b.Write(word)
	}
	return b.String()
}

// piped runs a line on pipes for carol.
func piped(t testing.TB, h *host.Host, o host.CreateOptions) (*host.Streams, *host.Conn) {
	t.Helper()
	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := createPiped(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, c
}

// outputs copies both outputs to their end and returns them.
func outputs(t testing.TB, s *host.Streams) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	var both sync.WaitGroup
	both.Go(func() {
		if err := s.CopyStderr(&errs); err != nil {
			t.Error(err)
		}
	})
	if err := s.CopyStdout(&out); err != nil {
		t.Error(err)
	}
	both.Wait()
	return out.String(), errs.String()
}

func TestAProgramOnPipesIsATerminalForEverybodyElse(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	s, _ := piped(t, h, host.CreateOptions{Name: "x", Term: "xterm", Transient: true,
		Argv: sh("cat; echo \"err $TERM.\" >&2; exit 3")})
	list, err := hosttest.List(h, carol)
	if err != nil || len(list) != 1 || list[0].Viewers != 1 || !list[0].Mine {
		t.Errorf("it is listed as %+v: %v", list, err)
	}
	if st := connect(t, h, alice, "a").subscribe(s.Terminal().URI()); st.IsPty {
		t.Error("isPty is true")
	}
	if _, err := s.Write([]byte("in\x03\n")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, s.Terminal(), "in\x03\r\n")
	s.CloseInput()
	if out, errs := outputs(t, s); out != "in\x03\n" || errs != "err .\n" {
		t.Errorf("stdout %q, stderr %q", out, errs)
	}
	wait(t, "the exit", s.Terminal().Done())
	if st, _ := s.Terminal().Exit(); st.Code != 3 {
		t.Errorf("exit %v", st)
	}
	if shown, _, err := hosttest.Conn(t, h, alice).LogText(workOf(t, h, alice), s.Terminal()); err != nil || !strings.Contains(string(shown), "err .\n") {
		t.Errorf("the log is %q: %v", shown, err)
	}
	s.Close()
	if list, _ := hosttest.List(h, carol); len(list) != 0 {
		t.Errorf("its terminal stays: %+v", list)
	}
}

func TestNobodyTypesIntoAProgramOnPipes(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.InputShared = true })
	s, c := piped(t, h, host.CreateOptions{Name: "x", Argv: sh("exec cat")})
	var denied *authz.Denied
	for _, who := range []authz.Principal{alice, carol} {
		v := attach(t, h, who, "x", window)
		if err := v.a.Input([]byte("k")); !errors.As(err, &denied) || denied.Rule != authz.RulePipes {
			t.Errorf("%s, attached: %v", who.Name, err)
		}
		if err := v.c.Send(t.Context(), s.Terminal(), []byte("k")); !errors.As(err, &denied) {
			t.Errorf("%s, sending: %v", who.Name, err)
		}
	}
	p := connect(t, h, alice, "a")
	got := p.dispatch(s.Terminal().URI(), ahp.TerminalInput{Data: []byte("k")})
	if got != authz.RulePipes {
		t.Errorf("over AHP: %q", got)
	}
	if name, _ := attach(t, h, eve, "x", window).a.Holder(); name != c.Principal().Name {
		t.Errorf("%s holds it now", name)
	}
	s.CloseInput()
	if out, _ := outputs(t, s); out != "" {
		t.Errorf("%q got through", out)
	}
}

func TestASlowReaderOfStreamsLosesNothingAndHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	data := numbers(20 << 20)
	file := filepath.Join(t.TempDir(), "data")
	writeFile(t, file, data)
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 256 << 10 })
	other := run(t, h, carol, "other", "exec cat")
	script := "echo up >&2; cat " + file + "; echo over >&2; exit 5"
	s, _ := piped(t, h, host.CreateOptions{Argv: sh(script)})
	awaitOutput(t, h, s.Terminal(), "up")
	// It does not read yet.
	typist := attach(t, h, carol, "other", host.AttachOptions{})
	if err := typist.a.Input([]byte("others go on\n")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, other, "others go on")
	if out := state(t, h, s.Terminal()); strings.Contains(text(out), "over") {
		t.Error("the program did not wait for its reader")
	}
	out, errs := outputs(t, s)
	if sha256.Sum256([]byte(out)) != sha256.Sum256([]byte(data)) || errs != "up\nover\n" {
		t.Errorf("%d of %d bytes came, or not the same; errors %q", len(out), len(data), errs)
	}
	wait(t, "the exit", s.Terminal().Done())
	if st, _ := s.Terminal().Exit(); st.Code != 5 {
		t.Errorf("exit %v", st)
	}
}

func TestAProgramWhoseConnectionIsLostIsHungUpBeforeItsInputEnds(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	file := filepath.Join(t.TempDir(), "whole")
	s, _ := piped(t, h, host.CreateOptions{Name: "x", Transient: true,
		Argv: sh("trap 'echo hup; exit 7' HUP; echo up; cat; echo whole >" + file)})
	go s.CopyStdout(io.Discard) // ends with the streams
	awaitOutput(t, h, s.Terminal(), "up")
	if _, err := s.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, s.Terminal(), "half")
	s.Close()
	wait(t, "the exit", s.Terminal().Done())
	if st, _ := s.Terminal().Exit(); st.Code != 7 {
		t.Errorf("exit %v", st)
	}
	awaitOutput(t, h, s.Terminal(), "hup")
	if by := s.Terminal().EndedBy(); !strings.Contains(by, "connection") {
		t.Errorf("it was ended %s", by)
	}
	list, _ := hosttest.List(h, carol)
	if len(list) != 1 || list[0].State != host.StateExited || list[0].Viewers != 0 {
		t.Errorf("it is listed as %+v", list)
	}
}

func TestADetachedProgramGoesOnForItsTerminal(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	s, _ := piped(t, h, host.CreateOptions{Name: "x",
		Argv: sh("cat; for i in $(seq 20000); do echo $i; done; exit 4")})
	// Its output is more than a pipe holds, and nobody reads it any more.
	s.Detach()
	wait(t, "the exit", s.Terminal().Done())
	if st, _ := s.Terminal().Exit(); st.Code != 4 {
		t.Errorf("exit %v", st)
	}
	awaitOutput(t, h, s.Terminal(), "20000\r\n")
}

func TestAReaderThatIsStuckDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	s, _ := piped(t, h, host.CreateOptions{Name: "x", Argv: sh("echo up >&2; exec yes")})
	go s.CopyStderr(io.Discard) // ends with the terminal
	awaitOutput(t, h, s.Terminal(), "up")
	if err := hosttest.Dispose(h, alice, s.Terminal()); err != nil {
		t.Fatal(err)
	}
	if st, ok := s.Terminal().Exit(); !ok || st.Code != 129 {
		t.Errorf("exit %v %v", st, ok)
	}
}

func TestWhenTheReaderGoesTheProgramGetsSIGPIPE(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	s, _ := piped(t, h, host.CreateOptions{Argv: []string{"yes"}})
	gone := errors.New("gone")
	if err := s.CopyStdout(writerFunc(func([]byte) (int, error) { return 0, gone })); err != gone {
		t.Errorf("got %v", err)
	}
	s.CloseStdout()
	wait(t, "the exit", s.Terminal().Done())
	if st, _ := s.Terminal().Exit(); st.Signal != syscall.SIGPIPE {
		t.Errorf("exit %v", st)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestAShellOnPipesIsALoginShellWithoutIntegration(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.Shell, c.Login, c.ShellIntegration = "/bin/bash", true, true })
	s, _ := piped(t, h, host.CreateOptions{})
	if _, err := fmt.Fprintln(s, `echo "$0" "$-" "$TERMHOST_NONCE"`); err != nil {
		t.Fatal(err)
	}
	s.CloseInput()
	out, _ := outputs(t, s)
	if words := strings.Fields(out); len(words) != 2 || words[0] != "-bash" ||
		slices.Contains([]byte(words[1]), 'i') {
		t.Errorf("it is %q", out)
	}
}

func TestStreamsNeedTheRightToCreate(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c, err := h.Connect(eve, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var denied *authz.Denied
	if _, err := createPiped(c, host.CreateOptions{}); !errors.As(err, &denied) {
		t.Errorf("an observer gets %v", err)
	}
	s, _ := piped(t, h, host.CreateOptions{Argv: []string{"cat"}})
	s.Close()
	wait(t, "the exit", s.Terminal().Done())
	if _, err := s.Write([]byte("x")); !errors.Is(err, ptypool.ErrInputClosed) {
		t.Errorf("after the end: %v", err)
	}
}

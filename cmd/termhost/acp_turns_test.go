package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
)

// gone meets a host that goes away while commands run, and that is back later.
func (t *agentTurn) gone([]string) error {
	id, err := t.create(0, "sleep", "300")
	if err != nil {
		return err
	}
	if err := os.WriteFile(fmt.Sprint("made-", os.Getpid()), nil, 0o600); err != nil {
		return err
	}
	if _, err := t.embed(id, "sleep"); err != nil {
		return err
	}
	t.say("sleeping")
	_, err = t.wait(t.ctx, id)
	t.say("wait: %s", refusal(err))
	_, err = t.output(id)
	t.say("output: %s", refusal(err))
	t.say("kill: %s", refusal(t.kill(id)))
	_, err = t.create(0, "true")
	t.say("create: %s", refusal(err))
	return nil
}

// ask runs what needs a person's answer.
func (t *agentTurn) ask([]string) error {
	const line = `printf 'sure? '; read answer; echo "you said $answer"; exit 4`
	id, err := t.create(0, "sh", "-c", line)
	if err != nil {
		return err
	}
	if _, err := t.embed(id, "a question"); err != nil {
		return err
	}
	st, err := t.wait(t.ctx, id)
	if err != nil {
		return err
	}
	out, err := t.output(id)
	t.say("asked: %s %q", ended(st.ExitCode, st.Signal), out.Output)
	return errors.Join(err, t.release(id))
}

// where tells what a command is given.
func (t *agentTurn) where([]string) error {
	const line = `pwd; echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT
		command -v acpagent || echo none`
	id, err := t.create(0, "sh", "-c", line)
	if err != nil {
		return err
	}
	if _, err := t.wait(t.ctx, id); err != nil {
		return err
	}
	out, err := t.output(id)
	t.say("where: %q terminal %t", out.Output, t.caps.Terminal)
	return err
}

// big sends messages that are nearly as large as the SDKs take.
func (t *agentTurn) big([]string) error {
	const almost = 10<<20 - 4<<10
	t.say("%s", strings.Repeat("x", almost))
	t.say("still here")
	return nil
}

// cancel gives up waiting, and waits again.
func (t *agentTurn) cancel([]string) error {
	id, err := t.create(0, "sleep", "300")
	if err != nil {
		return err
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.ctx, 20*time.Millisecond)
		_, err := t.wait(ctx, id)
		cancel()
		t.say("cancelled: %t", err != nil)
	}
	if err := t.kill(id); err != nil {
		return err
	}
	st, err := t.wait(t.ctx, id)
	t.say("then: %s", ended(st.ExitCode, st.Signal))
	return err
}

// wrong asks for what cannot be.
func (t *agentTurn) wrong([]string) error {
	missing := "/no/such/folder"
	q := acpsdk.CreateTerminalRequest{SessionId: t.session, Command: "true", Cwd: &missing}
	_, err := t.conn.CreateTerminal(t.ctx, q)
	t.say("cwd: %s", refusal(err))
	id, err := t.create(0, "no-such-program")
	if err != nil {
		return err
	}
	if _, err := t.embed(id, "nothing"); err != nil {
		return err
	}
	out, err := t.output(id)
	t.say("program: %s %q", ended(out.ExitStatus.ExitCode, out.ExitStatus.Signal), out.Output)
	_, werr := t.wait(t.ctx, "nobody-1")
	t.say("id: %s", refusal(werr))
	_, cerr := t.conn.CallExtension(t.ctx, "_unknown/method", map[string]any{"a": 1})
	t.say("editor: %s", refusal(cerr))
	return fmt.Errorf("done %w", err)
}

// crowd shows twenty commands, which run until the file "enough" is there, and
// releases each as soon as it has ended.
func (t *agentTurn) crowd([]string) error {
	var all sync.WaitGroup
	for i := range 20 {
		line := fmt.Sprintf("echo out-%d; while [ ! -e enough ]; do sleep 0.1; done; exit %d", i, i)
		id, err := t.create(0, "sh", "-c", line)
		if err != nil {
			return err
		}
		if _, err := t.embed(id, "one of many"); err != nil {
			return err
		}
		all.Go(func() {
			st, err := t.wait(t.ctx, id)
			if err == nil && st.ExitCode != nil && *st.ExitCode == i {
				err = t.release(id)
			}
			if err != nil {
				t.say("number %d: %s", i, refusal(err))
			}
		})
	}
	all.Wait()
	return nil
}

package ptypool

import (
	"fmt"
	"slices"
	"testing"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/nonce"
	"termhost/ptypool/shellinit"
)

// commands is a recorder that also keeps what the shell tells.
type commands struct {
	*recorder
	told []string
}

func (c *commands) note(format string, args ...any) {
	c.event(func() { c.told = append(c.told, fmt.Sprintf(format, args...)) })
}

func (c *commands) PromptStart()                   { c.note("prompt") }
func (c *commands) CommandExecuted(l string)       { c.note("executed %q", l) }
func (c *commands) CommandFinished(n int, ok bool) { c.note("finished %d %v", n, ok) }
func (c *commands) CommandDetection()              { c.note("detection") }

func TestATermReportsCommandsToItsHandler(t *testing.T) {
	in := shellinit.Scripts{Dir: t.TempDir()}
	if err := in.Install(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			argv, env, grant, ok := in.Apply(slowtest.Program(t, name), false, testEnv(t))
			if !ok {
				t.Fatal("no integration")
			}
			p := newPool(t, Config{})
			c := &commands{recorder: newRecorder()}
			spec := Spec{Argv: argv, Env: env, Cols: 80, Rows: 24, Grant: grant}
			spec.VT.Nonce = nonce.Genuine
			term, err := p.Start(spec, c)
			if err != nil {
				t.Fatal(err)
			}
			prompts := func() (n int) {
				for _, s := range c.told {
					if s == "prompt" {
						n++
					}
				}
				return n
			}
			c.await(t, "the first prompt", func() bool { return prompts() > 0 })
			input(t, term, "sh -c 'exit 3'\n")
			c.await(t, "the second prompt", func() bool { return prompts() > 1 })
			input(t, term, "exit\n")
			c.exit(t, term)
			want := []string{"detection", "prompt", `executed "sh -c 'exit 3'"`, "finished 3 true",
				"prompt", `executed "exit"`}
			if !slices.Equal(c.told[:len(want)], want) { // fish finishes the last one too
				t.Errorf("told %q, want %q", c.told, want)
			}
			if out := c.output(); markOSC.MatchString(out) {
				t.Errorf("marks are in the output: %q", out)
			}
		})
	}
}

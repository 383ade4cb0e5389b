package hosttest

import (
	"bytes"
	"os/exec"

	"termhost/ptypool/proctag"
)

// Start starts a program that is no terminal's. If a host of this process starts a terminal at that
// moment, a program that is started in another way may be taken for a part of it, and is then hung
// up with it (see proctag.ForkExec).
func Start(cmd *exec.Cmd) (err error) {
	proctag.Untagged(func() { err = cmd.Start() })
	return err
}

// Run is Start, and waits for the program's end.
func Run(cmd *exec.Cmd) error {
	if err := Start(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// Output is Run, and returns what the program has printed on both outputs.
func Output(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := Run(cmd)
	return out.String(), err
}

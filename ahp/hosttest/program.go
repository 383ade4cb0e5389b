package hosttest

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"

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

// Build builds termhost in a folder, with more flags of `go build`, and returns its path. It has
// the race detector if the tests have it.
func Build(dir string, flags ...string) (path string, err error) {
	path = filepath.Join(dir, "termhost")
	args := append([]string{"build", "-o", path}, flags...)
	race := debug.BuildSetting{Key: "-race", Value: "true"}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, race) {
		args = append(args, "-race")
	}
	out, err := Output(exec.Command("go", append(args, "termhost/cmd/termhost")...))
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

package slowtest

import (
	"os"
	"os/exec"
	"testing"
)

// OwnerVariable is the environment variable of what a test starts: the name of the test. With it
// .ci/left tells whose a process is that was left behind.
const OwnerVariable = "TERMHOST_TEST"

// Owner returns the environment variable that names a test, as "NAME=value".
func Owner(t testing.TB) string { return OwnerVariable + "=" + t.Name() }

// Sleeper returns a program that sleeps for longer than any test takes. It is not started. If it
// runs when the test ends, it is killed then.
func Sleeper(t testing.TB) *exec.Cmd {
	cmd := exec.Command("sleep", "1000")
	cmd.Env = append(os.Environ(), Owner(t))
	t.Cleanup(func() {
		if cmd.Process != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

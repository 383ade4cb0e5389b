package hosttest

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Again runs this test program another time, with a variable set by which its TestMain knows that
// it is to do something else. It gets a value as JSON on its standard input, which is closed at the
// test's end; it must end then.
func Again(t testing.TB, variable string, value any) (in io.Writer, out io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), variable+"=1"), LogFile(t)
	stdin, err := cmd.StdinPipe()
	Check(t, err)
	stdout, err := cmd.StdoutPipe()
	Check(t, err)
	Check(t, Start(cmd))
	t.Cleanup(func() {
		stdin.Close()
		Check(t, cmd.Wait())
	})
	Check(t, json.NewEncoder(stdin).Encode(value))
	return stdin, stdout
}

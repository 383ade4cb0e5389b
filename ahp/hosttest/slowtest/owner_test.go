package slowtest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

func TestASleeperHasTheNameOfItsTestAndEndsWithIt(t *testing.T) {
	var cmd *exec.Cmd
	t.Run("started", func(t *testing.T) {
		cmd = slowtest.Sleeper(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var environ []byte
		for len(environ) == 0 { // the kernel is about to begin the program
			var err error
			environ, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains("\x00"+string(environ), "\x00TERMHOST_TEST="+t.Name()+"\x00") {
			t.Errorf("its environment is %q", environ)
		}
	})
	if err := syscall.Kill(cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("it goes on: %v", err)
	}
	t.Run("not started", func(t *testing.T) { slowtest.Sleeper(t) })
}

package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// delegatedTo, in the environment of a test's child, has it take the tree that is delegated to it.
const delegatedTo = "TERMHOST_TEST_DELEGATED"

func TestMain(m *testing.M) {
	if os.Getenv(delegatedTo) != "" {
		if err := child(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child is what a keeper does, in a process of its own.
func child() error {
	tree, err := Take()
	if tree == nil || err != nil {
		return fmt.Errorf("took %v, %v", tree, err)
	}
	fmt.Println("delegated", tree.dir)
	start := func(id string) (*exec.Cmd, error) {
		group := tree.Make(id)
		if group == nil {
			return nil, fmt.Errorf("no group for %s", id)
		}
		defer group.Close()
		c := exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exec sleep 1000")
		c.Env = []string{"PATH=" + os.Getenv("PATH")}
		c.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd()), Pdeathsig: syscall.SIGKILL}
		return c, c.Start()
	}
	one, err := start("one")
	if err != nil {
		return err
	}
	defer one.Wait()
	defer one.Process.Kill()
	two, err := start("two")
	if err != nil {
		return err
	}
	defer two.Process.Kill()
	path, err := pathOf(one.Process.Pid)
	if err != nil || path != strings.TrimPrefix(tree.dir, mount())+"/terminal-one" {
		return fmt.Errorf("it is in %s: %v", path, err)
	}
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(time.Millisecond) {
		if u, ok := UsageOf(one.Process.Pid); ok && u.CPU > 0 {
			break
		} else if time.Now().After(deadline) {
			return fmt.Errorf("it uses %+v, %v", u, ok)
		}
	}
	if u, ok := UsageOf(os.Getpid()); ok {
		return fmt.Errorf("the keeper's own group is a terminal's: %+v", u)
	}
	// What has ended goes with the next one, and what runs stays.
	two.Process.Kill()
	two.Wait()
	if tree.Make("three") == nil {
		return fmt.Errorf("no third group")
	}
	names, err := filepath.Glob(tree.child(prefix + "*"))
	if got := strings.ReplaceAll(strings.Join(names, " "), tree.dir+"/", ""); err != nil ||
		got != "terminal-one terminal-three" {
		return fmt.Errorf("there are %s: %v", got, err)
	}
	fmt.Println("all right")
	return nil
}

// delegate makes a group, as a service manager does, and runs child in it.
func delegate(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(mount(), "termhost-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("no group can be made here: ", err)
	}
	t.Cleanup(func() {
		left, _ := filepath.Glob(dir + "/[kt]*")
		for _, d := range append(left, dir) {
			deadline := time.Now().Add(90 * time.Second)
			for unix.Rmdir(d) == unix.EBUSY && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond) // what was killed is still there
			}
		}
	})
	group, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), delegatedTo+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
	out, err := c.CombinedOutput()
	t.Logf("%s: %v\n%s", dir, err, out)
	return string(out)
}

func TestEachTerminalHasAGroupBelowOneThatIsDelegated(t *testing.T) {
	if got := delegate(t); !strings.HasSuffix(got, "all right\n") {
		t.Error("see above")
	}
}

// Nothing below a group of another kind is a terminal's.
func TestOnlyATerminalsGroupIsAccounted(t *testing.T) {
	if u, ok := UsageOf(1); ok {
		t.Errorf("process 1 uses %+v", u)
	}
	if u, ok := UsageOf(1 << 30); ok {
		t.Errorf("no process uses %+v", u)
	}
}

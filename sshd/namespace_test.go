package sshd

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// namespaceVariable says that a test runs in a network of its own.
const namespaceVariable = "TERMHOST_TEST_NAMESPACE"

// ownNetwork has the rest of a test run in a network namespace of its own, whose loopback device
// has the addresses of stormNetwork, too. It returns false in the process that only waits for that.
func ownNetwork(t testing.TB) (inside bool) {
	t.Helper()
	if os.Getenv(namespaceVariable) != "" {
		hosttest.Check(t, setUpNetwork())
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*patience)
	defer cancel()
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	if _, ok := t.(*testing.B); ok {
		args = []string{"-test.run=^$", "-test.bench=^" + t.Name() + "$", "-test.v",
			fmt.Sprintf("-test.short=%v", testing.Short()),
			fmt.Sprintf("-test.benchtime=%dx", slowtest.Amount(13, 1))}
	}
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), namespaceVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		root := func(id int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		}
		cmd.SysProcAttr.UidMappings = root(uid)
		cmd.SysProcAttr.GidMappings = root(os.Getgid())
	}
	out, err := hosttest.Output(cmd)
	switch {
	case cmd.Process == nil && !slowtest.Complete():
		t.Skipf("no network namespace can be made here: %v", err)
	case err != nil:
		t.Fatalf("in a network namespace: %v\n%s", err, out)
	}
	t.Logf("in a network namespace:\n%s", out)
	return false
}

// setUpNetwork has the loopback device run with its own addresses and those of stormNetwork.
func setUpNetwork() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	set := func(name string, request uint, fill func(*unix.Ifreq) error) error {
		ifr, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if err := fill(ifr); err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, request, ifr)
	}
	address := func(b net.IP) func(*unix.Ifreq) error {
		return func(ifr *unix.Ifreq) error { return ifr.SetInet4Addr(b.To4()) }
	}
	_, network, err := net.ParseCIDR(stormNetwork)
	if err != nil {
		return err
	}
	if err := set("lo", unix.SIOCSIFFLAGS, func(ifr *unix.Ifreq) error {
		ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		return nil
	}); err != nil {
		return err
	}
	first := net.IPv4(network.IP[0], network.IP[1], 0, 1)
	if err := set("lo:1", unix.SIOCSIFADDR, address(first)); err != nil {
		return err
	}
	return set("lo:1", unix.SIOCSIFNETMASK, address(net.IP(network.Mask)))
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// bootContainer boots systemd in a container whose files are those of this machine, with what is
// below $1 over them; nothing that it writes stays. It ends when the story in it has.
const bootContainer = `set -e
mkdir "$1/scratch" "$1/root"
mount -t tmpfs scratch "$1/scratch"
mkdir "$1/scratch/up" "$1/scratch/work"
cp -a "$1/over/." "$1/scratch/up"
mount -t overlay over -o "lowerdir=/,upperdir=$1/scratch/up,workdir=$1/scratch/work" "$1/root"
exec systemd-nspawn --quiet --directory "$1/root" --machine "termhost-$$" --private-network \
	--register=no --keep-unit --console=pipe --boot systemd.unit=try.target`

// tryUnits are the units by which the container does nothing but the story, and then ends.
var tryUnits = map[string]string{
	"try.target": "[Unit]\nRequires=basic.target dbus.socket systemd-logind.service try.service\n",
	"try.service": "[Unit]\nAfter=basic.target dbus.socket systemd-logind.service\n" +
		"[Service]\nType=oneshot\nTimeoutStartSec=300\nExecStart=/try\n" +
		"StandardOutput=file:/said\nStandardError=inherit\nExecStopPost=systemctl --no-block exit\n",
}

// TestTheUnitsUnderSystemd has the units of the system and of a user do what their first lines say,
// under a systemd of their own: a restart, crashes of host and keeper, a stop, and a new user.
func TestTheUnitsUnderSystemd(t *testing.T) {
	slowtest.Skip(t)
	if os.Getuid() != 0 {
		t.Skip("only root boots a container")
	}
	slowtest.Programs(t, "systemd-nspawn", "unshare", "loginctl")
	t.Parallel()
	dir, err := os.MkdirTemp("/var/tmp", "termhost-units-") // no tmpfs, which an overlay may refuse
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	over := filepath.Join(dir, "over")
	program, err := exec.LookPath("termhost")
	if err != nil {
		t.Fatal(err)
	}
	install := func(from, to string, mode os.FileMode) {
		t.Helper()
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(over, to)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(over, to), b, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install(program, "usr/bin/termhost", 0o755)
	install("testdata/systemd/try", "try", 0o755)
	for _, name := range []string{"termhost", "termhost-keeper"} {
		install("dist/"+name+"@.service", "usr/lib/systemd/system/"+name+"@.service", 0o644)
		install("dist/"+name+".service", "usr/lib/systemd/user/"+name+".service", 0o644)
	}
	for name, text := range tryUnits {
		path := filepath.Join(over, "etc/systemd/system", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script := bootContainer + "\n"
	out, err := exec.Command("unshare", "--mount", "sh", "-c",
		strings.Replace(script, "exec systemd-nspawn", "systemd-nspawn", 1)+` >"$1/boot" 2>&1 || :
cp "$1/root/said" "$1/said" || cat "$1/boot"`, "sh", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil {
		t.Skipf("systemd does not boot in a container here: %s", out)
	}
	if !strings.HasSuffix(string(said), "all right\n") {
		t.Errorf("%s", said)
	}
}

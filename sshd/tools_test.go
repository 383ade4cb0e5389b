package sshd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// Programs that drive a shell over ssh -tt take each byte for one of their command's.

func TestAnsibleWithItsDefaults(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	slowtest.Program(t, "ansible-playbook")
	r := asSSHD(t, nil)
	_, port, _ := net.SplitHostPort(r.addr)
	options := r.sshArgs("alice")
	r.write("inventory", fmt.Sprintf("th ansible_host=127.0.0.1 ansible_port=%s ansible_user=me"+
		" ansible_ssh_private_key_file=%s ansible_ssh_common_args='%s'\n", port, r.path("alice"),
		strings.Join(options[:len(options)-1], " ")))
	r.write("template.j2", "for {{ inventory_hostname }}\n")
	r.write("play.yml", fmt.Sprintf(`- hosts: all
  vars: {dir: %q}
  tasks:
    - {command: "printf 'one\\ntwo\\n'", register: said}
    - {assert: {that: "said.stdout_lines == ['one', 'two'] and said.rc == 0"}}
    - {shell: "echo out; echo err >&2; exit 3", register: failed, failed_when: "failed.rc != 3"}
    - {copy: {dest: "{{ dir }}/copied", content: "{{ 'x' * 300000 }}"}}
    - {template: {src: "{{ dir }}/template.j2", dest: "{{ dir }}/templated"}}
    - {lineinfile: {path: "{{ dir }}/templated", line: "another line"}}
    - {fetch: {src: "{{ dir }}/templated", dest: "{{ dir }}/fetched", flat: true}}
    - {raw: "echo raw", register: said}
    - {assert: {that: "said.stdout == 'raw\\r\\n'"}}
    - {file: {path: "{{ dir }}/copied", mode: "0640"}}
    - {stat: {path: "{{ dir }}/copied"}, register: there}
    - {assert: {that: "there.stat.size == 300000 and there.stat.mode == '0640'"}}
`, r.dir))
	control, err := os.MkdirTemp("", "cp") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(control)
	cmd := exec.CommandContext(t.Context(), "ansible-playbook", "-i", r.path("inventory"), r.path("play.yml"))
	cmd.Env = append(os.Environ(), "HOME="+r.dir, "ANSIBLE_SSH_CONTROL_PATH_DIR="+control)
	out, err := hosttest.Output(cmd)
	if err != nil || !strings.Contains(out, "unreachable=0") || !strings.Contains(out, "failed=0") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := r.read("fetched"); got != "for th\nanother line\n" {
		t.Errorf("fetched %q", got)
	}
}

func TestExpectDrivesACommand(t *testing.T) {
	t.Parallel()
	slowtest.Program(t, "expect")
	r := asSSHD(t, nil)
	r.write("script", fmt.Sprintf(`set timeout 60
proc no {} { puts "never came: $::expect_out(buffer)"; exit 9 }
spawn ssh -tt {*}{%s} {stty -echo; printf 'Password: '; read p; stty echo; echo; echo "got $p"; exec sh}
expect "Password: " {} timeout no
send "hunter2\r"
expect -re "^\r\ngot hunter2\r\n" {} timeout no
expect -re {[$#] $} {} timeout no
send "echo \$((6*7))\r"
expect -re "\r\n42\r\n" {} timeout no
send "exit 7\r"
expect eof {} timeout no
exit [lindex [wait] 3]
`, strings.Join(r.sshArgs("alice"), " ")))
	out, err := r.other("expect", "-f", r.path("script"))
	if fmt.Sprint(err) != "exit status 7" {
		t.Errorf("%v\n%q", err, out)
	}
}

func TestFabricWithAPty(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	python := pythonWith(t, "fabric")
	r := asSSHD(t, nil)
	_, port, _ := net.SplitHostPort(r.addr)
	r.write("run.py", fmt.Sprintf(`
import fabric, invoke
c = fabric.Connection("127.0.0.1", user="me", port=%s, config=fabric.Config(overrides={"load_ssh_configs": False}),
    connect_kwargs={"key_filename": %q, "allow_agent": False, "look_for_keys": False})
got = c.run("seq 3; exit 4", pty=True, hide=True, warn=True)
assert (got.stdout, got.exited) == ("1\r\n2\r\n3\r\n", 4), got
got = c.run("read x; echo \"<$x>\"", pty=True, hide=True,
    watchers=[], in_stream=__import__("io").StringIO("typed\n"))
assert "<typed>" in got.stdout, got
got = c.run("seq 100000", pty=True, hide=True)
assert got.stdout == "".join("%%d\r\n" %% i for i in range(1, 100001)), len(got.stdout)
`, port, r.path("alice")))
	if out, err := r.other(python, r.path("run.py")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// pythonWith returns a Python that has a module; the system's, where distributions put modules, or
// that of the path.
func pythonWith(t testing.TB, module string) (path string) {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "import "+module).Run() == nil {
			return path
		}
	}
	slowtest.Missing(t, "no python3 has the module %s", module)
	return ""
}

// A program whose output goes on into another gets each line of it, too.
func TestWhatIsPrintedOnATerminalMayBePiped(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	copied := filepath.Join(t.TempDir(), "copy")
	script := fmt.Sprintf("ssh '%s' 'seq 100000' </dev/null | tee %s | tail -1; cmp %s <(seq 100000 | sed 's/$/\\r/')",
		strings.Join(r.sshArgs("alice", "-tt"), "' '"), copied, copied)
	if got, err := r.other("bash", "-c", script); got != "100000\r\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// What a signal has ended is told to programs as sshd tells it; verbs have statuses of their own.
func TestClientsLearnOfASignalThatEndedACommand(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, map[string]string{"alice": "", "forced": `command="kill -USR1 $$"`})
	for _, c := range []struct {
		key, command string
		signal       string
		status       int
	}{
		{"alice", "kill -TERM $$", "TERM", 0},
		{"alice", "kill -KILL $$", "KILL", 0},
		{"alice", "kill -BUS $$", "SIG@openssh.com", 0},
		{"alice", "sh -c 'kill -TERM $$'; exit 5", "", 5},
		{"alice", "run -- kill -TERM $$", "", 143},
		{"alice", "termhost run -- kill -TERM $$", "", 143},
		{"forced", "ls", "USR1", 0},
	} {
		for _, onTerminal := range []bool{false, true} {
			s, err := r.dial(c.key).NewSession()
			if err != nil {
				t.Fatal(err)
			}
			if onTerminal {
				if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
					t.Fatal(err)
				}
			}
			var exit *gossh.ExitError
			if err := s.Run(c.command); !errors.As(err, &exit) {
				t.Fatalf("%s: %v", c.command, err)
			}
			if exit.Signal() != c.signal || c.signal == "" && exit.ExitStatus() != c.status {
				t.Errorf("%s, on a terminal %v: %v", c.command, onTerminal, exit)
			}
		}
	}
	if got := r.onTTY("", "kill -TERM $$"); got.status != 255 {
		t.Errorf("ssh -tt: %+v", got)
	}
}

func TestPythonsClientsLearnOfASignal(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t)
	r := asSSHD(t, nil)
	_, port, _ := net.SplitHostPort(r.addr)
	for module, script := range map[string]string{
		"asyncssh": `
async def main():
    async with asyncssh.connect("127.0.0.1", port=%s, username="me", client_keys=[%q], known_hosts=None,
            agent_path=None, config=None) as c:
        for term in (None, "xterm"):
            got = await c.run("echo up; kill -TERM $$", term_type=term)
            assert got.exit_signal[0] == "TERM" and got.returncode == -15 and "up" in got.stdout, got
            got = await c.run("exit 3", term_type=term)
            assert got.exit_status == 3 and got.exit_signal is None, got
import asyncio, asyncssh
asyncio.run(main())
`, "paramiko": `
import paramiko
c = paramiko.SSHClient()
c.set_missing_host_key_policy(paramiko.AutoAddPolicy())
c.connect("127.0.0.1", port=%s, username="me", key_filename=%q, allow_agent=False, look_for_keys=False)
for pty in (False, True):
    _, out, _ = c.exec_command("echo up; kill -TERM $$", get_pty=pty)
    assert out.read().strip() == b"up" and out.channel.recv_exit_status() == -1
    _, out, _ = c.exec_command("exit 3", get_pty=pty)
    assert out.channel.recv_exit_status() == 3
`,
	} {
		python := pythonWith(t, module)
		r.write(module+"_test.py", fmt.Sprintf(script, port, r.path("alice")))
		if out, err := r.other(python, r.path(module+"_test.py")); err != nil {
			t.Errorf("%s: %v\n%s", module, err, out)
		}
	}
}

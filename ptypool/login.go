package ptypool

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	// Both are read at every login, as pam_env does in Debian's PAM configuration of sshd. What the
	// second one sets counts.
	environmentFile = "etc/environment"
	localeFile      = "etc/default/locale"
	// maxLoginFile bounds what is read of one, in bytes: such files have a few lines.
	maxLoginFile = 64 << 10

	runtimeFolders = "run/user" // systemd's, of all users
	mailFolder     = "/var/mail"
)

// loginVars returns the variables that the machine's administrator and systemd give to every login
// of a user id, by their names. root is the folder in which /etc and /run are.
func loginVars(root string, uid int) map[string]string {
	vars := make(map[string]string)
	if dir, ok := runtimeDir(root, uid); ok {
		vars["XDG_RUNTIME_DIR"] = dir
		// pam_systemd sets it only if there is a bus: other builds of D-Bus have none there.
		if _, err := os.Stat(filepath.Join(root, dir, "bus")); err == nil {
			vars["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + dir + "/bus"
		}
	}
	set := make(map[string]string)
	for _, name := range []string{environmentFile, localeFile} {
		f, err := os.Open(filepath.Join(root, name))
		if err != nil {
			continue // few machines have both
		}
		readEnvFile(io.LimitReader(f, maxLoginFile), set)
		f.Close()
	}
	for name, value := range set {
		if loginMaySet(name) {
			vars[name] = value
		}
	}
	return vars
}

// loginMaySet leaves out what describes the connection and the terminal. sshd leaves out the first.
func loginMaySet(name string) bool {
	return name != "TERM" && !strings.HasPrefix(name, "SSH_CONNECTION") &&
		!strings.HasPrefix(name, "SSH_AUTH_INFO") && !strings.HasPrefix(name, "TERMHOST_")
}

// runtimeDir returns the folder for a user's sockets, which systemd makes at the first login. One
// that others may enter is not used (XDG Base Directory Specification: its mode must be 0700).
func runtimeDir(root string, uid int) (dir string, ok bool) {
	dir = "/" + runtimeFolders + "/" + strconv.Itoa(uid)
	st, err := os.Lstat(filepath.Join(root, dir))
	if err != nil || !st.IsDir() || st.Mode().Perm() != 0o700 {
		return "", false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return dir, ok && int(sys.Uid) == uid
}

// readEnvFile reads a file as pam_env does, which is no shell: # begins a comment anywhere, a
// backslash before the end joins two lines, a value may be in quotes, and nothing is expanded.
func readEnvFile(r io.Reader, vars map[string]string) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLoginFile)
	lines.Split(scanEnvLine)
	joined := ""
	for lines.Scan() {
		line, _, comment := strings.Cut(strings.TrimLeft(lines.Text(), " \t"), "#")
		if begin, ok := strings.CutSuffix(line, `\`); ok && !comment {
			joined += begin
			continue
		}
		setEnvLine(joined+line, vars)
		joined = ""
	}
}

// scanEnvLine is bufio.ScanLines, but leaves a carriage return where it is.
func scanEnvLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// setEnvLine takes NAME=value; NAME alone unsets it, and any other line is left out.
func setEnvLine(line string, vars map[string]string) {
	name, value, is := strings.Cut(strings.TrimPrefix(line, "export "), "=")
	if !is {
		delete(vars, name)
		return
	}
	if !validVar(name, "") {
		return
	}
	if value != "" && strings.ContainsRune(`"'`, rune(value[0])) {
		// Only the quotes at both ends go. Without one at the end nothing else is lost.
		value = value[1:]
		if n := len(value); n > 0 && strings.ContainsRune(`"'`, rune(value[n-1])) {
			value = value[:n-1]
		}
	}
	vars[name] = value
}

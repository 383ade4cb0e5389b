package ptypool

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// userPath and rootPath are PATH before the login shell's profile changes it, as sshd sets it.
	userPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
	rootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	// defaultLang is LANG if neither client nor host sets it: text is UTF-8, everything else as in
	// C.
	defaultLang = "C.UTF-8"
)

// EnvSpec describes a program's environment.
type EnvSpec struct {
	Account Account
	Shell   string // SHELL; "": Account.Shell
	Term    string // TERM; "": not set
	TZ      string // TZ; "": not set, which is the system's time zone
	// Root is the folder in which the machine's /etc and /run are; "": /.
	Root string
	// Client has the variables that the client of an SSH session sent, "NAME=value" each. Only
	// LANG, LC_* and COLORTERM are accepted (like sshd_config's AcceptEnv in distributions).
	Client []string
	// Extra has the host's variables, "NAME=value" each (configuration, SSH_CONNECTION, the caller
	// of createTerminal). All are accepted, and override all others.
	Extra []string
}

// Env returns an environment like that of a login by sshd with PAM. It is built from nothing, so a
// variable of this process reaches no child unless it is named here. What the machine's
// administrator sets for every login overrides what the client asks for, as with Debian's sshd. The
// result is sorted, and each name occurs once. Entries that are not NAME=value, or contain a NUL,
// are left out.
func Env(s EnvSpec) []string {
	vars := make(map[string]string)
	set := func(name, value string) {
		if validVar(name, value) {
			vars[name] = value
		}
	}
	set("HOME", s.Account.Home)
	set("USER", s.Account.Name)
	set("LOGNAME", s.Account.Name)
	set("MAIL", mailFolder+"/"+s.Account.Name)
	set("SHELL", s.Account.Shell)
	if s.Shell != "" {
		set("SHELL", s.Shell)
	}
	set("PATH", userPath)
	if s.Account.UID == 0 {
		set("PATH", rootPath)
	}
	for name, value := range map[string]string{"TERM": s.Term, "TZ": s.TZ} {
		if value != "" {
			set(name, value)
		}
	}
	for _, v := range s.Client {
		if name, value, ok := strings.Cut(v, "="); ok && clientMaySet(name) {
			set(name, value)
		}
	}
	for name, value := range loginVars(cmp.Or(s.Root, "/"), s.Account.UID) {
		set(name, value)
	}
	if vars["LANG"] == "" && vars["LC_ALL"] == "" && vars["LC_CTYPE"] == "" {
		set("LANG", defaultLang)
	}
	for _, v := range s.Extra {
		if name, value, ok := strings.Cut(v, "="); ok {
			set(name, value)
		}
	}
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// clientMaySet is the allow-list for the variables of a client.
func clientMaySet(name string) bool {
	return name == "LANG" || name == "COLORTERM" || strings.HasPrefix(name, "LC_")
}

// validVar reports whether a shell and the kernel can hold the variable. MarkerVariable may not be
// set: the Pool does that.
func validVar(name, value string) bool {
	if name == "" || name == MarkerVariable || strings.ContainsRune(value, 0) {
		return false
	}
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

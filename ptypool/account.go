package ptypool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Account is one line of the user database, see passwd(5).
type Account struct {
	Name  string
	UID   int
	Home  string // "/" if the database names none
	Shell string // "/bin/sh" if the database names none
}

// ErrNoAccount says that the user database does not have the user id.
var ErrNoAccount = errors.New("ptypool: no such account")

const (
	passwdFile = "/etc/passwd"
	// getentTime bounds a query to a directory service (LDAP, SSSD), which may not answer.
	getentTime = 5 * time.Second
)

// LookupAccount returns the account of a user id, from /etc/passwd or else from getent(1), by which
// a program without cgo reaches a directory service. It fails with ErrNoAccount.
func LookupAccount(ctx context.Context, uid int) (Account, error) {
	if f, err := os.Open(passwdFile); err == nil {
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if a, ok := parsePasswd(lines.Text()); ok && a.UID == uid {
				return a, nil
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, getentTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "getent", "passwd", strconv.Itoa(uid)).Output()
	if err == nil {
		if a, ok := parsePasswd(strings.TrimSuffix(string(out), "\n")); ok && a.UID == uid {
			return a, nil
		}
	}
	return Account{}, fmt.Errorf("%w: user id %d is neither in %s nor known to getent",
		ErrNoAccount, uid, passwdFile)
}

// parsePasswd reads name:password:uid:gid:comment:home:shell.
func parsePasswd(line string) (a Account, ok bool) {
	f := strings.Split(line, ":")
	if len(f) != 7 || f[0] == "" {
		return Account{}, false
	}
	uid, err := strconv.Atoi(f[2])
	if err != nil || uid < 0 {
		return Account{}, false
	}
	a = Account{Name: f[0], UID: uid, Home: f[5], Shell: f[6]}
	if a.Home == "" {
		a.Home = "/"
	}
	if a.Shell == "" {
		a.Shell = "/bin/sh"
	}
	return a, true
}

package sshd

import (
	"flag"
	"fmt"
	"time"

	"termhost/authz"
)

// runToken mints a token and prints its secret, alone, on stdout; or ends one.
func runToken(v *invocation) int {
	fs := v.flags()
	name := fs.String("name", "", "")
	role := fs.String("role", "", "")
	var ttl time.Duration
	durationFlag(fs, &ttl, "ttl")
	revoke := fs.String("revoke", "", "")
	if _, status, done := v.parse(fs, 0, 0); done {
		return status
	}
	authority, grant := v.s.c.srv.cfg.Authority, v.s.c.grant
	if given(fs, "revoke") {
		if *name != "" || *role != "" || ttl != 0 {
			return v.misused("--revoke stands alone")
		}
		if err := authority.Revoke(grant, *revoke); err != nil {
			return v.failed(err)
		}
		return statusOK
	}
	asked := authz.NoRole
	if *role != "" {
		var err error
		if asked, err = authz.ParseRole(*role); err != nil {
			return v.misused("%s", explain(err))
		}
	}
	if given(fs, "ttl") && ttl <= 0 {
		return v.misused("--ttl must be positive")
	}
	secret, token, err := authority.Mint(grant, *name, asked, ttl)
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintln(v.stdout, secret)
	fmt.Fprintf(v.stderr, "token %s: %s, until %s\n", token.Name, token.Role, token.Expires.UTC().Format(time.RFC3339))
	return statusOK
}

func runTokens(v *invocation) int {
	if _, status, done := v.parse(v.flags(), 0, 0); done {
		return status
	}
	list, err := v.s.c.srv.cfg.Authority.Tokens(v.s.c.grant)
	if err != nil {
		return v.failed(err)
	}
	if len(list) == 0 {
		fmt.Fprintln(v.stderr, "no tokens; `ssh HOST token` makes one")
		return statusOK
	}
	rows := [][]string{{"NAME", "ROLE", "CREATED", "EXPIRES"}}
	for _, t := range list {
		rows = append(rows, []string{t.Name, t.Role, t.Created.UTC().Format(time.RFC3339), t.Expires.UTC().Format(time.RFC3339)})
	}
	writeTable(v.stdout, rows, 0)
	return statusOK
}

// given reports whether a flag was set on the command line.
func given(fs *flag.FlagSet, name string) (set bool) {
	fs.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

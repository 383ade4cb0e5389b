package verbs

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"time"

	"termhost/authz"
	"termhost/keys"
)

// tokenFlags are the flags of `token`.
type tokenFlags struct {
	authz.TokenRequest
	role   string // of the token
	revoke string
}

// defineToken mints a token and prints its secret, alone, on stdout; or ends one.
func defineToken(fs *flag.FlagSet) func(*invocation) int {
	var f tokenFlags
	fs.StringVar(&f.Name, "name", "", "its `NAME`; otherwise it is default")
	fs.StringVar(&f.role, "role", "", "its `ROLE`: operator unless asked otherwise, at most yours")
	durationFlag(fs, &f.TTL, "ttl", "how long it is good for, `D`")
	fs.BoolVar(&f.TypesSecrets, "may-type-secrets", false,
		"let it type passwords and the like, as people do")
	fs.StringVar(&f.revoke, "revoke", "", "end the token `NAME`")
	return func(v *invocation) int { return v.token(f) }
}

func (v *invocation) token(f tokenFlags) int {
	if given(v.fs, "revoke") {
		if f.Name != "" || f.role != "" || f.TTL != 0 || f.TypesSecrets {
			return v.misused("--revoke stands alone")
		}
		if err := v.Conn.RevokeToken(v.Grant, f.revoke); err != nil {
			return v.failed(err)
		}
		return StatusOK
	}
	if f.role != "" {
		var err error
		if f.Role, err = authz.ParseRole(f.role); err != nil {
			return v.misused("%s", v.explain(err))
		}
	}
	if given(v.fs, "ttl") && f.TTL <= 0 {
		return v.misused("--ttl must be positive")
	}
	secret, token, err := v.Conn.MintToken(v.Grant, f.TokenRequest)
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintln(v.stdout, secret)
	secrets := ""
	if token.TypesSecrets {
		secrets = ", may type secrets"
	}
	fmt.Fprintf(v.stderr, "token %s: %s%s, until %s\n",
		token.Name, token.Role, secrets, token.Expires.UTC().Format(time.RFC3339))
	return StatusOK
}

// defineTokens lists the peer's tokens.
func defineTokens(*flag.FlagSet) func(*invocation) int { return (*invocation).tokens }

func (v *invocation) tokens() int {
	list, err := v.Conn.Tokens(v.Grant)
	switch {
	case err != nil:
		return v.failed(err)
	case len(list) == 0:
		fmt.Fprintln(v.stderr, v.told("no tokens; `ssh HOST token` makes one"))
		return StatusOK
	}
	writeTable(v.stdout, tokens(list), 0)
	return StatusOK
}

// tokens returns the table of tokens: a row of column names, then one for each token. A column
// tells where web pages are from, if there are any, and another which tokens may type secrets.
func tokens(list []keys.Token) [][]string {
	rows := [][]string{{"NAME", "ROLE", "CREATED", "EXPIRES"}}
	for _, t := range list {
		rows = append(rows, []string{t.Name, t.Role,
			t.Created.UTC().Format(time.RFC3339), t.Expires.UTC().Format(time.RFC3339)})
	}
	column := func(title string, value func(keys.Token) string) {
		if !slices.ContainsFunc(list, func(t keys.Token) bool { return value(t) != "" }) {
			return
		}
		rows[0] = append(rows[0], title)
		for i, t := range list {
			rows[i+1] = append(rows[i+1], cmp.Or(value(t), "-"))
		}
	}
	column("PAGE AT", func(t keys.Token) string { return t.Origin })
	column("SECRETS", func(t keys.Token) string {
		if t.TypesSecrets {
			return "types them"
		}
		return ""
	})
	return rows
}

package verbs

import (
	"flag"
	"fmt"

	"termhost/ahp/host"
	"termhost/authz"
)

// definePage prints the URL of the web page, alone, on stdout.
func definePage(fs *flag.FlagSet) func(*invocation) int {
	var r host.PageRequest
	var role string
	code := fs.Bool("qr", false, "draw the URL as a QR code as well, for a phone")
	stay := fs.Bool("stay", false, "go on until the connection ends, so that its forwards do")
	fs.StringVar(&r.URL, "url", "", "where the browser finds this host, `URL`")
	fs.StringVar(&role, "role", "",
		"the page's `ROLE`: operator unless asked otherwise, at most yours")
	return func(v *invocation) int { return v.page(r, role, *code, *stay) }
}

func (v *invocation) page(r host.PageRequest, role string, code, stay bool) int {
	if role != "" {
		var err error
		if r.Role, err = authz.ParseRole(role); err != nil {
			return v.misused("%s", v.explain(err))
		}
	}
	r.Terminals = v.args
	url, err := v.Conn.OpenPage(v.Grant, r)
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintln(v.stdout, url)
	if code {
		drawn, err := qrCode(url)
		if err != nil {
			return v.failed(err)
		}
		fmt.Fprint(v.stdout, drawn)
	}
	switch {
	case r.URL == "" && code:
		fmt.Fprintln(v.stderr,
			"a phone reaches the host at another address: say which with --url URL")
	case r.URL == "":
		fmt.Fprintln(v.stderr, "open it on the host's own machine within a minute; "+
			"from another one use: termhost page DEST")
	}
	if stay {
		<-v.ctx.Done()
	}
	return StatusOK
}

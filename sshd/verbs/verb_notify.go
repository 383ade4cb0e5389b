package verbs

import (
	"errors"
	"flag"
	"fmt"

	"termhost/ahp/host"
	"termhost/authz"
)

// defineNotify tests where the peer is told what wants it while it is away.
func defineNotify(fs *flag.FlagSet) func(*invocation) int {
	test := fs.Bool("test", false, "send a test to each of them")
	return func(v *invocation) int {
		if !*test {
			return v.misused("notify needs --test")
		}
		return v.testNotify()
	}
}

func (v *invocation) testNotify() int {
	p := v.principal()
	if p.Inside || p.Token != "" {
		return v.failed(&authz.Denied{Verb: authz.Create, Rule: authz.RuleAgent})
	}
	var lines []string
	var err error
	ok := true
	if v.TestNotify != nil {
		lines, ok, err = v.TestNotify(v.ctx, p)
	}
	switch {
	case err != nil:
		return v.failed(err)
	case len(lines) == 0:
		return v.failed(errNoNotify)
	}
	for _, line := range lines {
		fmt.Fprintln(v.stdout, host.Printable(line))
	}
	if !ok {
		return StatusFailed
	}
	return StatusOK
}

var errNoNotify = errors.New("you are not notified: no [[notify]] of the configuration is for you")
